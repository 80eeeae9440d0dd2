"""Expressions of a SELECT over the columns of a step, and names that nothing else has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from recuse.fold import fold
from recuse.sql.native.calls import is_call
from recuse.sql.native.inner import Inner
from recuse.sql.native.tree import NativeSelect, native_scalars, with_inner
from recuse.sql.query import Scalar


def replaced(scalar: Scalar, meant: Mapping[Scalar, Scalar]) -> Scalar:
    """Return an expression with every part that is listed replaced by what it means.

    A subquery sees the rows around it, and has aggregates of its own.
    """
    rows = {source: target for source, target in meant.items() if not is_call(source)}

    def whole(node: Scalar, known: Mapping[Scalar, Scalar]) -> Scalar:
        def change(part: exp.Expr) -> exp.Expr:
            target = known.get(part)
            if target is not None and part.find(exp.Column, exp.AggFunc, exp.Window) is not None:
                found = target.copy()
                found.meta.update(part.meta)
                return found
            return with_inner(part, lambda one: whole(one, rows)) if isinstance(part, Inner) else part

        return node.transform(change)

    return whole(scalar, meant)


def each_once(nodes: Iterable[Scalar]) -> list[Scalar]:
    return list(dict.fromkeys(nodes))


def columns_in(scalars: Sequence[Scalar], here: set[str]) -> list[exp.Column]:
    """Return the columns that expressions use of the rows here, each once."""
    found = (part for scalar in scalars for part in scalar.find_all(exp.Column) if part.table in here)
    return list({(part.table, part.name): part for part in found}.values())


def several_orders(found: Sequence[Scalar]) -> bool:
    """Return whether windows order rows in different ways."""
    orders = {
        (tuple(window.args.get("partition_by") or ()), window.args.get("order"))
        for window in found
        if window.args.get("order") is not None or window.find(exp.RowNumber, exp.Lag, exp.Lead, exp.Ntile)
    }
    return len(orders) > 1


def aliases_in(select: NativeSelect) -> set[str]:
    """Return the aliases that expressions of a SELECT mention, as they are compared."""
    used = {fold(item.alias) for item in select.items}
    for scalar in native_scalars(select):
        used |= {fold(part.table) for part in scalar.find_all(exp.Column)}
    return used


def fresh_alias(wish: str, taken: set[str]) -> str:
    names = [wish, *(f"{wish}_{number}" for number in range(2, len(taken) + 3))]
    found = next(name for name in names if fold(name) not in taken)
    taken.add(fold(found))
    return found
