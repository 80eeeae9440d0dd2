"""A SELECT with several sets of keys (ROLLUP, CUBE, GROUPING SETS) → UNION ALL of one SELECT for each.

In each of them the keys that its set leaves out are NULL, wherever they stand outside of an aggregate, and
GROUPING is a number. So nothing that is proved of groups has to know of sets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from recuse.sql.native.calls import calls
from recuse.sql.native.tree import NativeQuery, NativeSelect, NativeSet, SetWord, Sorting, names_of
from recuse.sql.query import Output, Scalar
from recuse.sql.rollup import bits

Typed = Callable[[NativeSelect], NativeSelect]
"""returns a SELECT with the types of its outputs"""


def united(select: NativeSelect, sets: Sequence[tuple[Scalar, ...]], typed: Typed) -> NativeQuery | None:
    """Return the rows of all sets under each other; None if something looks at all of them but ORDER BY.

    `select` has the keys of all sets.
    """
    keys = [key.unnest() for key in select.keys or ()]
    order = _by_columns(select)
    if order is None or select.distinct or select.once_by or select.qualify:
        return None
    if any(output.value.find(exp.Window) for output in select.outputs):
        return None
    types = typed(_of_set(select, keys, select.keys or ())).types
    sides: list[NativeQuery] = [typed(_of_set(select, keys, kept)) for kept in sets]
    names = names_of(select)
    while len(sides) > 1:
        pairs = [sides[place : place + 2] for place in range(0, len(sides), 2)]
        sides = [
            pair[0]
            if len(pair) == 1
            else NativeSet(SetWord.UNION, pair[0], pair[1], names, types, every=True)
            for pair in pairs
        ]
    return replace(sides[0], order=order, limit=select.limit, offset=select.offset)


def _of_set(select: NativeSelect, keys: Sequence[Scalar], kept: tuple[Scalar, ...]) -> NativeSelect:
    """Return the SELECT of one set."""
    places = [keys.index(key.unnest()) for key in kept]

    def change(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Grouping | exp.GroupingId):
            asked = [keys.index(one.unnest()) for one in node.expressions if one.unnest() in keys]
            return exp.cast(exp.Literal.number(bits(asked, places)), exp.DType.BIGINT)
        if node.unnest() in keys:
            return node.copy() if keys.index(node.unnest()) in places else exp.null()
        return node.copy() if next(calls(node), None) is node else node

    def changed(scalar: Scalar) -> Scalar:
        return scalar.transform(change)

    return replace(
        select,
        outputs=tuple(Output(output.name, changed(output.value)) for output in select.outputs),
        having=tuple(map(changed, select.having)),
        keys=kept,
        order=(),
        limit=None,
        offset=0,
    )


def _by_columns(select: NativeSelect) -> tuple[Sorting, ...] | None:
    """Return ORDER BY over the columns that are shown; None if it needs another."""
    shown = {output.value.unnest(): output.name for output in select.outputs}
    found = []
    for sorting in select.order:
        name = shown.get(sorting.value.unnest())
        if name is None:
            return None
        found.append(replace(sorting, value=exp.column(exp.to_identifier(name, quoted=True))))
    return tuple(found)
