"""A SELECT as steps: rows, then groups, then windows, then what is shown. Each gives its columns a type.

A step's columns stand in the next one under an alias of its own, so that no engine has to find out which part
of an expression is a key, and every part is compiled by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.scalars.expression import Constant, Expression, Query, Variable, operands, with_operands
from recuse.sql.elaborate import Elaborator, Lookup
from recuse.sql.native.apart import told_apart
from recuse.sql.native.asked import EngineCall, Over, RowsCall
from recuse.sql.native.calls import Calls, calls, windows
from recuse.sql.native.replace import aliases_in, columns_in, each_once, fresh_alias, replaced, several_orders
from recuse.sql.native.tree import NativeSelect, Sorting, native_lookup
from recuse.sql.native.windows import RANKED
from recuse.sql.query import Output, Scalar, column


@dataclass(frozen=True, slots=True)
class Computed:
    """A column of a step, and how it is computed."""

    source: Scalar
    """what it stands for in the step before"""
    name: str
    value: Expression


Make = Callable[[Lookup], Elaborator]
"""the reader of typed expressions over columns that a lookup knows"""


@dataclass(frozen=True, slots=True)
class Step:
    """Columns under an alias."""

    alias: str
    columns: tuple[Computed, ...]
    keys: int = 0
    """how many of them, the first ones, are those of GROUP BY"""

    def lookup(self, around: Lookup) -> Lookup:
        """Return the function that says of which type a column is, after this step."""
        kinds = {one.name: one.value.type for one in self.columns}

        def found(node: Scalar) -> Variable:
            if isinstance(node, exp.Column) and node.table == self.alias:
                return Variable(self.alias, node.name, kinds[node.name])
            return around(node)

        return found

    def replaced(self, scalar: Scalar) -> Scalar:
        """Return an expression over the columns of this step."""
        return replaced(scalar, {one.source.unnest(): column(self.alias, one.name) for one in self.columns})


@dataclass(frozen=True, slots=True)
class ShownRows:
    """What is left of a SELECT when its groups and windows are columns."""

    outputs: tuple[Output, ...]
    having: tuple[Scalar, ...]
    qualify: tuple[Scalar, ...]
    once_by: tuple[Scalar, ...]
    order: tuple[Sorting, ...]

    def scalars(self) -> Iterator[Scalar]:
        """Yield every expression."""
        yield from (output.value for output in self.outputs)
        yield from self.having
        yield from self.qualify
        yield from self.once_by
        yield from (sorting.value for sorting in self.order)

    def after(self, step: Step) -> ShownRows:
        """Return the same over the columns of a step."""
        return ShownRows(
            tuple(Output(output.name, step.replaced(output.value)) for output in self.outputs),
            tuple(map(step.replaced, self.having)),
            tuple(map(step.replaced, self.qualify)),
            tuple(map(step.replaced, self.once_by)),
            tuple(replace(sorting, value=step.replaced(sorting.value)) for sorting in self.order),
        )


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a SELECT.

    `rows` knows the columns of FROM, `grouped` those that HAVING sees, `last` those of what is shown.

    `numbered` is the step that numbers the rows, where several windows of different orders have to agree on
    which of two rows that look alike comes first.
    """

    rows: Lookup
    groups: tuple[Step, ...]
    having: tuple[Scalar, ...]
    grouped: Lookup
    numbered: Step | None
    windows: tuple[Step, ...]
    shown: ShownRows
    last: Lookup


NUMBER = "number of the row"


def steps_of(select: NativeSelect, around: Lookup, make: Make) -> Steps:
    """Return the steps of a SELECT, or refuse what cannot be computed."""
    taken = aliases_in(select)
    rows = lookup = native_lookup(select.items, around)
    here = {item.alias for item in select.items}
    shown = ShownRows(select.outputs, select.having, select.qualify, select.once_by, select.order)
    groups: tuple[Step, ...] = ()
    keys: list[Scalar] = []
    if select.keys is not None:
        before = Beforehand(fresh_alias("prepared", taken))
        made = _groups(select.keys, shown, make(rows), before, fresh_alias("grouped", taken))
        groups = (*before.steps(), *in_parts(made, fresh_alias("summed", taken)))
        shown = shown.after(made)
        _refuse_ungrouped(shown, here, make(rows))
        lookup, here = made.lookup(around), {made.alias}
        keys = [column(made.alias, one.name) for one in made.columns[: made.keys]]
    having, shown = shown.having, replace(shown, having=())
    found = each_once(window for scalar in shown.scalars() for window in windows(scalar))
    if not found:
        return Steps(rows, groups, having, lookup, None, (), shown, lookup)
    _refuse_nested(found, make(lookup))
    grouped = lookup
    numbered: Step | None = None
    if not groups and several_orders(found):
        numbered = _numbered(shown, here, lookup, fresh_alias("numbered", taken))
        shown = shown.after(numbered)
        found = [numbered.replaced(window) for window in found]
        lookup, here = numbered.lookup(around), {numbered.alias}
        keys = [column(numbered.alias, NUMBER)]
    before = Beforehand(fresh_alias("arranged", taken))

    def ties(used: Sequence[Scalar]) -> Sequence[Scalar]:
        alone = told_apart(select.items, used) if not groups and numbered is None else None
        return [*used, *keys] if alone is None else alone

    over = _windows(found, shown, here, make(lookup), ties, before, fresh_alias("windowed", taken))
    parts = (*before.steps(), *in_parts(over, fresh_alias("ranked", taken)))
    return Steps(rows, groups, having, grouped, numbered, parts, shown.after(over), over.lookup(around))


@dataclass(slots=True)
class Beforehand:
    """Expressions about one row, each computed once before rows are put together."""

    alias: str
    known: dict[Expression, Computed] = field(default_factory=dict)

    def take(self, value: Expression) -> Expression:
        """Return the column that holds a value; a constant is itself."""
        if isinstance(value, Constant):
            return value
        one = self.known.setdefault(value, Computed(exp.null(), f"v{len(self.known) + 1}", value))
        return Variable(self.alias, one.name, value.type)

    def steps(self) -> tuple[Step, ...]:
        """Return the step that computes them."""
        return (Step(self.alias, tuple(self.known.values())),)


def _groups(
    keys: Sequence[Scalar], shown: ShownRows, elaborator: Elaborator, before: Beforehand, alias: str
) -> Step:
    reader = Calls(elaborator, prepare=before.take)
    computed = [
        Computed(key, f"k{n}", before.take(elaborator.expression(key))) for n, key in enumerate(keys, start=1)
    ]
    found = each_once(call for scalar in shown.scalars() for call in calls(scalar))
    computed += [Computed(call, f"a{n}", reader.expression(call)) for n, call in enumerate(found, start=1)]
    return Step(alias, tuple(computed), len(keys))


def _windows(
    found: Sequence[Scalar],
    shown: ShownRows,
    here: set[str],
    elaborator: Elaborator,
    ties: Callable[[Sequence[Scalar]], Sequence[Scalar]],
    before: Beforehand,
    alias: str,
) -> Step:
    """Return the windows as columns; `ties` are the columns by which rows that tie are told apart."""
    used = columns_in([*shown.scalars()], here)
    kept = [
        Computed(one, f"c{n}", before.take(elaborator.lookup(one))) for n, one in enumerate(used, start=1)
    ]
    apart = tuple(before.take(elaborator.lookup(one)) for one in ties(used))
    reader = Calls(elaborator, apart, before.take)
    made = [Computed(one, f"w{n}", reader.expression(one)) for n, one in enumerate(found, start=1)]
    return Step(alias, (*made, *kept))


def _numbered(shown: ShownRows, here: set[str], lookup: Lookup, alias: str) -> Step:
    used = columns_in([*shown.scalars()], here)
    kept = [Computed(one, f"c{n}", lookup(one)) for n, one in enumerate(used, start=1)]
    number = Computed(exp.var(NUMBER), NUMBER, RowsCall((), over=Over()).engine("row_number", (), RANKED))
    return Step(alias, (*kept, number))


def in_parts(step: Step, alias: str) -> tuple[Step, ...]:
    """Return a step as two, if it makes something of the engine's own functions: first these, then that."""
    known: dict[object, Computed] = {}

    def part(found: Expression) -> Expression:
        if not isinstance(found, Query) or not isinstance(found.body, EngineCall):
            return with_operands(found, [part(operand) for operand in operands(found)])
        one = known.setdefault(
            (found.operands, found.body), Computed(exp.null(), f"p{len(known) + 1}", found)
        )
        return Variable(alias, one.name, found.type)

    values = [one.value if place < step.keys else part(one.value) for place, one in enumerate(step.columns)]
    if all(isinstance(value, Variable) for value in values[step.keys :]):
        return (step,)
    first = [replace(one, value=value) for one, value in zip(step.columns, values, strict=True)]
    plain = [one for place, one in enumerate(first) if place < step.keys or _is_stored(one.value, alias)]
    made = tuple(
        replace(one, value=Variable(alias, one.name, one.value.type)) if one in plain else one
        for one in first
    )
    return Step(alias, (*plain, *known.values()), step.keys), Step(step.alias, made)


def _is_stored(value: Expression, alias: str) -> bool:
    """Return whether a value is a column of the rows before, and not one that is computed of them."""
    return isinstance(value, Variable) and value.source != alias


# ------------------------------------------------------------------ looking at expressions


def _refuse_ungrouped(shown: ShownRows, here: set[str], elaborator: Elaborator) -> None:
    for scalar in shown.scalars():
        for part in scalar.find_all(exp.Column):
            if part.table in here:
                problem = f"column {part.name} is neither a key of GROUP BY nor in an aggregate"
                raise elaborator.refuse(problem, "aggregate it, or group by it", part)


def _refuse_nested(found: Sequence[Scalar], elaborator: Elaborator) -> None:
    for window in found:
        if any(part is not window for part in windows(window)):
            raise _nested(window, elaborator)


def _nested(node: Scalar, elaborator: Elaborator) -> QueryError:
    return elaborator.refuse("a window stands inside of another", "compute the inner one in a subquery", node)
