"""Words for the present, `CURRENT_DATE` and `now()`, as the constants that they are when a question is asked.

The moment is public, and one for the whole question: UTC, in whole seconds. So nothing volatile is left, two
questions that mean the same day are the same, and tomorrow's is another one.
"""

from __future__ import annotations

import re
from collections.abc import Container
from datetime import UTC, datetime

from sqlglot import exp

from recuse.fold import fold
from recuse.sql.position import span
from recuse.sql.reasons import written_name

MOMENTS = ("now", "current_timestamp", "localtimestamp", "transaction_timestamp", "get_current_timestamp")
DAYS = ("current_date", "today")
_SPOKEN = re.compile(rf"\b({'|'.join((*MOMENTS, *DAYS, 'current_localtimestamp', 'age'))})\b", re.IGNORECASE)
_MOMENTS = (exp.CurrentTimestamp, exp.Localtimestamp)


def present() -> datetime:
    """Return the moment at which a question is asked."""
    return datetime.now(UTC).replace(microsecond=0, tzinfo=None)


def tells_time(text: str) -> bool:
    """Return whether a question may look at the clock: another moment may make it another question."""
    return _SPOKEN.search(text) is not None


def at(tree: exp.Query, text: str, moment: datetime, macros: Container[str]) -> tuple[str, ...]:
    """Put constants where a tree speaks of the present, and return them in words; `macros` are left alone."""
    said = []
    for node in list(tree.find_all(exp.Func)):
        if _is_age(node) and "age" not in macros:  # counted from today on
            node.set("expressions", [_constant(str(moment.date()), "DATE"), *node.expressions])
        kind = _kind(node)
        if kind is None or written_name(node, text) in macros:
            continue
        place = span(node, text)
        made = _constant(str(moment.date() if kind == "DATE" else moment), kind)
        if place is not None:
            made.meta.update(start=place[0], end=place[1])
        node.replace(made)
        written = "the present moment" if place is None else text[place[0] : place[1] + 1]
        said.append(f"{written} is {made.this.name} (UTC): asked later it is another question")
    return tuple(dict.fromkeys(said))


def _constant(written: str, kind: str) -> exp.Cast:
    return exp.cast(exp.Literal.string(written), kind)


def _is_age(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and fold(node.name) == "age" and len(node.expressions) == 1


def _kind(node: exp.Expr) -> str | None:
    """Return the type of what a node says of the present; None if it says nothing of it."""
    if any(node.args.values()) and not isinstance(node, exp.Anonymous):
        return None
    if isinstance(node, exp.Anonymous):
        name = "" if node.expressions else fold(node.name)
        return "TIMESTAMP" if name in MOMENTS else "DATE" if name in DAYS else None
    return (
        "TIMESTAMP" if isinstance(node, _MOMENTS) else "DATE" if isinstance(node, exp.CurrentDate) else None
    )
