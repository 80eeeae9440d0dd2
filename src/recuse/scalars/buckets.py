"""Buckets of equal width between two numbers."""

from __future__ import annotations

from collections.abc import Sequence

from recuse.scalars.expression import Call, Expression
from recuse.scalars.function import Function, Mistyped, Signature, constant_of
from recuse.scalars.numbers import (
    digits,
    fits,
    number,
    scale_of,
)
from recuse.scalars.spelling import cast, spelled
from recuse.scalars.types import LIMIT, hull, whole


def _bucketing(arguments: Sequence[Expression]) -> Signature:
    hint = "write width_bucket(x, 0, 100, 10)"
    kinds = [number(arguments, place) for place in range(3)]
    low, high = (constant_of(arguments, place, "the ends are written down", hint) for place in (1, 2))
    buckets = constant_of(arguments, 3, "the number of buckets is written down", hint)
    if not isinstance(buckets, int) or isinstance(buckets, bool) or not 1 <= buckets <= 100_000:
        raise Mistyped("the number of buckets is a whole number from 1 to 100,000", hint, 3)
    same = hull(kinds)
    first, last = (
        end * 10 ** (same.scale - kind.scale) for end, kind in zip((low, high), kinds[1:], strict=True)
    )
    steps = max(abs(first), abs(last), last - first) * buckets * 10**same.scale
    if first >= last or steps > LIMIT or not fits(same):
        raise Mistyped("the buckets go up, between numbers that are not too long", hint)
    return Signature((same, same, same, whole(buckets, buckets)), whole(0, buckets + 1))


def _bucket(_: Call, value: int, low: int, high: int, buckets: int) -> int:
    if value < low:
        return 0
    return buckets + 1 if value >= high else (value - low) * buckets // (high - low) + 1


def _bucket_form(call: Call, value: str, low: str, high: str, _: str) -> str:
    """Return the bucket in exact granules: of a value that is NULL outside, so that no product overflows."""
    first, last, count = (constant_of(call.arguments, place, "") for place in (1, 2, 3))
    scale, given = scale_of(call.arguments[0].type), spelled(call.type)
    wide = spelled(whole(min(first, 0), max(abs(first), abs(last), last - first) * count * 10**scale))
    inner = f"(CASE WHEN {value} >= {low} AND {value} < {high} THEN {value} END)"
    if scale:
        held = f"DECIMAL({max(len(str(max(abs(first), abs(last)))), scale, 19)},{scale})"
        inner = f"({cast(inner, held)} * {digits(10**scale, f'DECIMAL({scale + 1},0)')})"
    offset = f"({cast(inner, wide)} - {digits(first, wide)})"
    place = f"(({offset} * {digits(count, wide)}) // {digits(last - first, wide)})"
    middle = f"({cast(place, given)} + {digits(1, given)})"
    ends = (
        f"WHEN {value} < {low} THEN {digits(0, given)} WHEN {value} >= {high} THEN {digits(count + 1, given)}"
    )
    return f"(CASE {ends} ELSE {middle} END)"


BUCKETS = (
    Function(
        "width_bucket",
        "width_bucket(x, low, high, n)",
        "Which of n equal buckets between low and high it lies in; 0 below, n + 1 above.",
        _bucketing,
        _bucket,
        _bucket_form,
    ),
)
