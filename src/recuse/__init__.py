"""Recuse: SQL and subgraph counts about people under pure ε-differential privacy, with nothing to guess.

    import recuse
    db = recuse.connect("shop.duckdb", policy="shop.toml")
    db.ask("SELECT COUNT(*) FROM orders", epsilon=0.5)

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recuse import dbapi
    from recuse.client import RemoteSession, connect
    from recuse.engines.check import Unreadable
    from recuse.errors import (
        AnalystError,
        BudgetError,
        ClosedTableError,
        DatabaseError,
        LayoutError,
        LedgerError,
        NoColumnError,
        NoTableError,
        ParameterError,
        PolicyError,
        QueryError,
        RecuseError,
        StatisticsError,
        UnansweredError,
    )
    from recuse.mechanism.release import Release
    from recuse.policy import Policy
    from recuse.privacy import Epsilon
    from recuse.session.answer import Answer
    from recuse.session.declared import FalseKey
    from recuse.session.graph import GraphSession, graph
    from recuse.session.session import Session, cdf, histogram
    from recuse.session.statistics import Statistics

__version__ = "0.2.0"

_HOME = {
    "AnalystError": "recuse.errors",
    "BudgetError": "recuse.errors",
    "DatabaseError": "recuse.errors",
    "Epsilon": "recuse.privacy",
    "FalseKey": "recuse.session.declared",
    "LayoutError": "recuse.errors",
    "LedgerError": "recuse.errors",
    "ParameterError": "recuse.errors",
    "Policy": "recuse.policy",
    "PolicyError": "recuse.errors",
    "QueryError": "recuse.errors",
    "NoTableError": "recuse.errors",
    "NoColumnError": "recuse.errors",
    "ClosedTableError": "recuse.errors",
    "RecuseError": "recuse.errors",
    "Release": "recuse.mechanism.release",
    "RemoteSession": "recuse.client",
    "Session": "recuse.session.session",
    "Statistics": "recuse.session.synthetic",
    "StatisticsError": "recuse.errors",
    "UnansweredError": "recuse.errors",
    "Answer": "recuse.session.answer",
    "Unreadable": "recuse.engines.check",
    "cdf": "recuse.session.session",
    "check": "recuse.session.check",
    "connect": "recuse.client",
    "GraphSession": "recuse.session.graph",
    "graph": "recuse.session.graph",
    "histogram": "recuse.session.session",
    "load_ipython_extension": "recuse.magic",
}

__all__ = [
    "AnalystError",
    "Answer",
    "BudgetError",
    "ClosedTableError",
    "DatabaseError",
    "Epsilon",
    "FalseKey",
    "GraphSession",
    "LayoutError",
    "LedgerError",
    "NoColumnError",
    "NoTableError",
    "ParameterError",
    "Policy",
    "PolicyError",
    "QueryError",
    "RecuseError",
    "Release",
    "RemoteSession",
    "Session",
    "Statistics",
    "StatisticsError",
    "UnansweredError",
    "Unreadable",
    "cdf",
    "check",
    "connect",
    "dbapi",
    "graph",
    "histogram",
]


def __getattr__(name: str) -> Any:
    if name == "dbapi":
        return import_module("recuse.dbapi")
    if name not in _HOME:
        raise AttributeError(f"module 'recuse' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
