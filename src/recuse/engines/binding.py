"""Plan + engine → a refusal if the engine does not understand what would be run. No row is read.

Every expression was typed and compiled before, so this finds mistakes of ours, not of people.
"""

from __future__ import annotations

from collections.abc import Iterable

from recuse.engines.engine import Engine
from recuse.errors import QueryError
from recuse.sql.plan import Plan

TYPES = "cast the values to types that fit"
FILE_TYPES = f"{TYPES}, or declare the types of a CSV file in [columns] of the policy"


def check_plan(plan: Plan, engine: Engine) -> None:
    """Refuse a plan of which the engine cannot bind a statement.

    Of what is released first each plan holds those before it, so that all are looked at once.
    """
    for first in plan.firsts:
        _check_statements(first.plan, engine)
    _check_statements(plan, engine)


def _check_statements(plan: Plan, engine: Engine) -> None:
    plan = plan.filled([None] * len(plan.firsts))
    public = [] if plan.grouping is None else [*plan.grouping.tables]
    public += [] if plan.public is None else [plan.public.sql]
    reason = unbound(engine, (*plan.statements, *public))
    if reason is not None:
        hint = FILE_TYPES if engine.catalogue().untyped else TYPES
        raise QueryError(f"{engine.dialect.name} refuses the query: {reason}", hint=hint)


def unbound(engine: Engine, statements: Iterable[str]) -> str | None:
    """Return why the first statement that does not bind does not, in one line; None if all do."""
    return next((reason for sql in statements if (reason := engine.bind(sql)) is not None), None)
