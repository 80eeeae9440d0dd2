"""What is asked of an aggregate or a window function: typed arguments, and the rows that it looks at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from recuse.scalars.build import apply, bring
from recuse.scalars.convert import number_or_null
from recuse.scalars.expression import Constant, Expression, Query
from recuse.scalars.function import OPAQUE, Mistyped
from recuse.scalars.spelling import cast, spelled
from recuse.scalars.types import BIGINT, Float, Opaque, Text, Timestamp, Type, is_ordinary, whole

COUNTED = whole(0, BIGINT.high)
"""How many there can be of anything."""


@dataclass(frozen=True, slots=True)
class Sorted:
    """One item of ORDER BY, typed."""

    value: Expression
    descending: bool = False
    nulls_first: bool = False

    def words(self, sql: str) -> str:
        """Return the item as it is written, given its value."""
        return f"{sql} {'DESC' if self.descending else 'ASC'} NULLS {'FIRST' if self.nulls_first else 'LAST'}"


@dataclass(frozen=True, slots=True)
class Over:
    """The window of a function: its partition, its order, its frame; `ties` make the order one of rows.

    `by_rows` says that the frame counts rows, `reach` is the frame as SQL writes it.
    """

    partition: tuple[Expression, ...] = ()
    order: tuple[Sorted, ...] = ()
    reach: str = ""
    by_rows: bool = False
    ties: tuple[Expression, ...] = ()

    def total(self) -> Over:
        """Return the window in an order that leaves nothing open but rows that look alike."""
        seen = [item.value for item in self.order]
        more = tuple(Sorted(value) for value in self.ties if value not in seen)
        return replace(self, order=(*self.order, *more))


@dataclass(frozen=True, slots=True)
class EngineCall:
    """A call of the engine's own function; its operands: arguments, order, test, partition, its order."""

    function: str
    arguments: int
    distinct: bool = False
    order: tuple[Sorted, ...] = ()
    tested: bool = False
    over: Over | None = None
    mended: bool = False
    """whether it may give NaN or -0.0"""
    ignore_nulls: bool = False
    held: Type | None = None
    """the type that holds every value of it, if that is not what the function gives"""

    def sql(self, operands: tuple[str, ...], spelled: Callable[[Type], str] = spelled) -> str:
        """Return the call, given its operands and how the engine spells types."""
        left = list(operands)

        def take(count: int) -> list[str]:
            taken, left[:] = left[:count], left[count:]
            return taken

        inside = ", ".join(take(self.arguments)) or ("*" if self.function == "count" else "")
        inside = f"DISTINCT {inside}" if self.distinct else inside
        ordered = _ordered(self.order, take(len(self.order)))
        if ordered:
            inside += f" ORDER BY {ordered}"
        if self.ignore_nulls:
            inside += " IGNORE NULLS"
        found = f"{self.function}({inside})"
        if self.tested:
            found += f" FILTER (WHERE {take(1)[0]})"
        if self.over is not None:
            partition = ", ".join(take(len(self.over.partition)))
            ordered = _ordered(self.over.order, take(len(self.over.order)))
            parts = [f"PARTITION BY {partition}" if partition else "",
                     f"ORDER BY {ordered}" if ordered else "", self.over.reach]  # fmt: skip
            found += f" OVER ({' '.join(part for part in parts if part)})"
        if self.held is not None:
            return cast(found, spelled(self.held))
        return number_or_null(found) if self.mended else found


def _ordered(order: tuple[Sorted, ...], values: list[str]) -> str:
    return ", ".join(item.words(value) for item, value in zip(order, values, strict=True))


@dataclass(frozen=True, slots=True)
class RowsCall:
    """A call as it was written, its parts typed."""

    arguments: tuple[Expression, ...]
    distinct: bool = False
    order: tuple[Sorted, ...] = ()
    test: Expression | None = None
    over: Over | None = None
    ignore_nulls: bool = False

    @property
    def argument(self) -> Expression:
        """The first argument."""
        if not self.arguments:
            raise Mistyped("an argument is missing", "write what is aggregated")
        return self.arguments[0]

    def only(self, expression: Expression) -> RowsCall:
        """Return the call over one argument, of those rows alone for which a condition holds."""
        test = expression if self.test is None else apply("and", self.test, expression)
        return replace(self, test=test)

    def engine(
        self,
        function: str,
        arguments: tuple[Expression, ...],
        gives: Type,
        *,
        order: tuple[Sorted, ...] = (),
        mended: bool = False,
        ignore_nulls: bool = False,
        held: Type | None = None,
    ) -> Query:
        """Return the engine's own function of these rows.

        Guarantee: a function of the bag of rows if the engine's is one of rows in the order of the window,
        whose ties are broken where its frame counts rows.
        """
        over = self.over.total() if self.over is not None and self.over.by_rows else self.over
        operands = [*arguments, *(item.value for item in order)]
        operands += [] if self.test is None else [self.test]
        if over is not None:
            operands += [*over.partition, *(item.value for item in over.order)]
        for value in [*(item.value for item in order), *(arguments if self.distinct else ())]:
            known(value)
        written = EngineCall(
            function,
            len(arguments),
            self.distinct,
            order,
            self.test is not None,
            over,
            mended,
            ignore_nulls,
            held,
        )
        return Query(tuple(operands), written, gives)

    def count(self, *arguments: Expression) -> Query:
        """Return how many of these rows there are, or in how many an argument is not NULL."""
        return self.engine("count", arguments, COUNTED)

    def unless_lost(self, value: Expression, kept: Expression, found: Expression) -> Expression:
        """Return what was found, NULL if `kept` has lost any of the values to bounds."""
        if value is kept or (isinstance(kept.type, Float) and not isinstance(value.type, Float)):
            return found  # every number is a float
        same = apply("=", self.count(value), self.count(kept))
        return apply("case", same, found, Constant(None, found.type))


def known(value: Expression) -> Expression:
    """Return a value, or say that it is not known when two of them are equal or which comes first."""
    if isinstance(value.type, Opaque):
        raise Mistyped(f"values of type {value.type.spelled} have no order here", OPAQUE)
    return value


def in_order(value: Expression) -> Expression:
    """Return a value whose order is known."""
    if isinstance(value.type, Text) and value.type.labels:
        raise Mistyped("labels of an ENUM have an order of their own", "cast them: CAST(x AS VARCHAR)")
    return known(value)


def within(value: Expression, kind: Type) -> Expression:
    """Return a value brought to a type; a timestamp outside of its bounds is NULL."""
    if value.type == kind:
        return value
    if not isinstance(kind, Timestamp) or not isinstance(value.type, Timestamp) or is_ordinary(value.type):
        return bring(value, kind)
    ends = [Constant(end, kind) for end in (kind.low, kind.high)]
    held = apply("case", apply("between", value, *ends), value, Constant(None, value.type))
    return bring(held, kind)


MadeOfRows = Callable[[RowsCall], Expression]
"""how a function of many rows is made of a call of it"""
