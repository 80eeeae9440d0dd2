"""Which whole numbers an engine has as integers, and which as decimals without decimal places."""

from __future__ import annotations

from collections.abc import Iterable

from recuse.scalars.expression import Call, Constant, Convert, Expression, Variable
from recuse.scalars.types import BIGINT, INTEGER, SMALLINT, Number

INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
_CARRYING = frozenset({"+", "-", "*", "%", "neg", "abs", "case", "coalesce", "nullif", "greatest", "least"})
_COUNTING = frozenset({"pg /", "length", "strlen", "ascii", "position", "&", "|", "xor", "width_bucket"})


def is_integer(expression: Expression) -> bool | None:
    """Return whether an engine has a whole number as an integer, not as a decimal; None if nobody knows.

    What an engine means by a quotient depends on it.
    """
    kind = expression.type
    if not isinstance(kind, Number) or kind.scale:
        return False
    match expression:
        case Constant():
            return BIGINT.low <= kind.low and kind.high <= BIGINT.high
        case Variable(stored=spelled):
            return spelled.upper() in INTEGERS if spelled else None
        case Convert(operand, target):
            inner = is_integer(operand)
            made = target in (SMALLINT, INTEGER, BIGINT) and operand.type != kind
            return True if made else inner
        case Call(function, arguments):
            if function.name not in _CARRYING:
                return function.name in _COUNTING
            return all_known(is_integer(one) for one in arguments if isinstance(one.type, Number))
    return None


def all_known(values: Iterable[bool | None]) -> bool | None:
    """Return AND, where None is unknown."""
    found = list(values)
    return False if False in found else None if None in found else True
