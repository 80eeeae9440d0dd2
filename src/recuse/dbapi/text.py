"""The text of a question: the ε that it states, and parameters written into it as literals."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from sqlglot import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from recuse.dbapi.errors import ProgrammingError

_LEADING = re.compile(
    r"\s*/\*\s*epsilon\s*=\s*([^\s*,]+)\s*(?:,\s*delta\s*=\s*([^\s*,]+)\s*)?\*/", re.IGNORECASE
)
_STATED = re.compile(r"(/\*|--)\s*(epsilon|delta)\s*=", re.IGNORECASE)
_DUCKDB = Dialect.get_or_raise("duckdb")


def stated_losses(sql: str) -> tuple[str, str | None, str | None]:
    """Return the question with blanks in place of its leading comment, and the ε and δ that that states.

    >>> stated_losses("/* epsilon = 0.5 */ SELECT 1")
    ('                    SELECT 1', '0.5', None)
    >>> stated_losses("/* epsilon=1, delta=1e-6 */ SELECT 1")[1:]
    ('1', '1e-6')
    """
    found = _LEADING.match(sql)
    rest = sql if found is None else " " * found.end() + sql[found.end() :]
    if _STATED.search(rest):
        raise ProgrammingError(
            "epsilon is stated once, in a comment before the question, and delta after it: "
            "/* epsilon = 1, delta = 1e-6 */"
        )
    return (rest, None, None) if found is None else (rest, found[1], found[2])


def stated_epsilon(sql: str) -> tuple[str, str | None]:
    """Return the question without its leading comment, and the ε that the comment states."""
    return stated_losses(sql)[:2]


def bound(sql: str, parameters: Sequence[Any]) -> str:
    """Return the question with every `?` replaced by the literal of its parameter.

    >>> bound("SELECT COUNT(*) FROM t WHERE a = ? AND b <> '?'", ["O'Neill"])
    "SELECT COUNT(*) FROM t WHERE a = 'O''Neill' AND b <> '?'"
    """
    if not parameters:
        return sql
    try:
        places = [t.start for t in _DUCKDB.tokenize(sql) if t.token_type is TokenType.PLACEHOLDER]
    except (SqlglotError, RecursionError, ValueError, IndexError):
        raise ProgrammingError("the text cannot be split into words") from None
    if len(places) != len(parameters) or isinstance(parameters, str | bytes):
        raise ProgrammingError(
            f"the question has {len(places)} marks (?), and there are {len(parameters)} parameters"
        )
    pieces, end = [], 0
    for place, value in zip(places, parameters, strict=True):
        pieces += [sql[end:place], literal(value)]
        end = place + 1
    return "".join([*pieces, sql[end:]])


def literal(value: Any) -> str:
    """Return a value as SQL writes it."""
    match value:
        case np.datetime64() if np.isnat(value):
            return "NULL"
        case np.datetime64() if isinstance(value.item(), int):  # finer than Python's clock
            coarse = value.astype("datetime64[us]")
            if coarse == value:
                return literal(coarse.item())
        case np.generic():
            return literal(value.item())
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int():
            return str(value) if value >= 0 else f"({value})"
        case Decimal() | float() if Decimal(value).is_finite():
            text = format(Decimal(repr(value)) if isinstance(value, float) else value, "f")
            return text if not text.startswith("-") else f"({text})"
        case str() if "\0" not in value:
            return "'" + value.replace("'", "''") + "'"
        case datetime.datetime() if value.tzinfo is None:
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case datetime.date() if not isinstance(value, datetime.datetime):
            return f"DATE '{value.isoformat()}'"
        case datetime.time() if value.tzinfo is None:
            return f"TIME '{value.isoformat()}'"
    raise ProgrammingError(
        f"a parameter of type {type(value).__name__} cannot be written into a question: "
        "None, bool, int, float, Decimal, str, date, time and datetime can, and numpy's scalars"
    )
