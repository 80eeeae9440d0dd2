"""Whole numbers as bits: both sides in one integer type, which the result never leaves."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from recuse.scalars.expression import Call, Expression
from recuse.scalars.function import Function, Signature
from recuse.scalars.numbers import held_as, whole_number
from recuse.scalars.spelling import INTEGERS, spelled
from recuse.scalars.types import hull


def _bitwise(arguments: Sequence[Expression]) -> Signature:
    kinds = (whole_number(arguments, 0), whole_number(arguments, 1))
    return Signature(kinds, INTEGERS[spelled(hull(kinds))])


def _form(pattern: str) -> Callable[..., str]:
    def form(call: Call, left: str, right: str) -> str:
        held = spelled(call.type)
        return pattern.format(held_as(call, 0, left, held), held_as(call, 1, right, held))

    return form


def _row(name: str, form: str, about: str, value: Callable[[int, int], int], pattern: str) -> Function:
    return Function(name, form, about, _bitwise, lambda _, x, y: value(x, y), _form(pattern))


BITS = (
    _row("&", "x & y", "The bits that both have.", operator.and_, "({} & {})"),
    _row("|", "x | y", "The bits that one of them has.", operator.or_, "({} | {})"),
    _row(
        "xor",
        "xor(x, y)",
        "The bits that only one of them has.",
        operator.xor,
        "xor({}, {})",
    ),
)
