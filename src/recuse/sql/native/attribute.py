"""A query of any form → the same query over rows that are somebody's, and whose its rows are; or why not.

Every row of the result has owners, like a row of a stored table with links: whoever withdraws takes along
exactly the rows that they own (proofs.md, theorems B1 and B2). Owners that the row around has anyway are left
out; a subquery that has no others is own.

Joins, filters and projections keep the owners of their rows. What else looks at several rows at once (a
group, a window, DISTINCT, LIMIT, the other side of an outer join) must see rows of the same owners only.

It is longer than other files because it is one proof: an induction over the forms of a query.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from recuse.sql.elaborate import Lookup, type_of
from recuse.sql.native.facts import Clause, Facts, certain
from recuse.sql.native.follow import Attributed, Links
from recuse.sql.native.inner import Inner
from recuse.sql.native.seen import (
    NotOwn,
    bare_value,
    beside_item,
    lasting,
    name_of,
    seen_from,
    unused_name,
    windows_of,
)
from recuse.sql.native.tree import (
    JoinKind,
    NativeItem,
    NativeQuery,
    NativeSelect,
    NativeSet,
    SetWord,
    inner,
    names_of,
    native_below,
)
from recuse.sql.query import Output, Owner, Scalar, Scan, column


@dataclass(frozen=True, slots=True)
class Attribution:
    """The proof: `links` know whose the rows of tables are, `lookup` the types of columns."""

    links: Links

    @property
    def lookup(self) -> Lookup:
        """The function that says of which type a column is."""
        return self.links.lookup()

    def query(self, query: NativeQuery, around: Facts) -> Attributed:
        """Return the query with its owners; `around` is known of the row whose columns it can use."""
        return self._set(query, around) if isinstance(query, NativeSet) else self._select(query, around)

    # -------------------------------------------------------------- SELECT

    def _select(self, select: NativeSelect, around: Facts) -> Attributed:
        where = tuple(lasting(select))
        rows, clauses = Facts(conditions=where), list[Clause]()
        items: list[NativeItem] = []
        for item in select.items:
            before = around + rows + certain(clauses)
            beside = around + beside_item(select, item, where)
            made, found, theirs = self._item(item, before if item.lateral else around, beside)
            pair = rows + theirs + Facts(conditions=item.on)
            on = self._scalars(item.on, around + pair + certain([*clauses, *found]), tested=True)
            items.append(replace(made, on=on))
            rows, clauses = self._joined(item.kind, around, where, (rows, clauses), (theirs, found), pair)
        inside = around + rows + certain(clauses)
        left = self._uncovered(around + rows, clauses)
        changed = self._changed(replace(select, items=tuple(items)), inside)
        if left:
            self._refuse_mixing(changed, left, inside)
        alone = changed.keys is not None and not changed.keys
        shown = tuple(None if alone else bare_value(output.value, changed) for output in changed.outputs)
        return Attributed(changed, tuple(left), Facts() if alone else rows, shown)

    def _joined(
        self,
        kind: JoinKind,
        around: Facts,
        where: tuple[Scalar, ...],
        first: tuple[Facts, list[Clause]],
        second: tuple[Facts, Sequence[Clause]],
        pair: Facts,
    ) -> tuple[Facts, list[Clause]]:
        """Return what holds of joined rows, and whose they are."""
        (rows, clauses), (theirs, found) = first, second
        if kind is JoinKind.INNER:
            return pair, [*clauses, *found]
        if kind in (JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI):
            self._refuse_others(found, around + pair + certain(clauses), f"{kind.value} JOIN")
            return rows, clauses
        if kind is JoinKind.RIGHT:
            self._refuse_others(clauses, around + pair + certain(found), "RIGHT JOIN")
            return Facts(conditions=where) + theirs, list(found)
        self._refuse_others(clauses, around + rows, "FULL JOIN")
        self._refuse_others(found, around + theirs, "FULL JOIN")
        return Facts(conditions=where), []

    def _uncovered(self, known: Facts, clauses: Iterable[Clause]) -> list[Clause]:
        """Return the clauses that what is known does not imply, and take note of what proves the others."""
        found = known.uncovered(list(clauses), self.lookup)
        self.links.proved.update(dict.fromkeys(found.keys))
        return list(found.left)

    def _refuse_others(self, clauses: Iterable[Clause], known: Facts, word: str) -> None:
        """Refuse a side of an outer join whose rows belong to others than the rows that are kept."""
        if self._uncovered(known, clauses):
            raise NotOwn(f"{word} keeps rows because others are missing, which may be somebody else's")

    def _refuse_mixing(self, select: NativeSelect, clauses: Sequence[Clause], inside: Facts) -> None:
        """Refuse whatever looks at rows of several owners at once."""
        here = {i.alias for q in native_below(select) if isinstance(q, NativeSelect) for i in q.items}

        def require(keys: Sequence[Scalar], word: str) -> None:
            proved = inside.fixed(keys, clauses, here, self.lookup)
            self.links.proved.update(dict.fromkeys(proved or ()))
            if proved is None:
                owners = ", ".join(dict.fromkeys(owner.kind for clause in clauses for owner in clause.owners))
                raise NotOwn(f"{word} mixes rows of several participants ({owners})")

        if select.keys is not None:
            require(select.keys, "GROUP BY")
            if not select.keys:  # there is a row, even of nothing
                raise NotOwn("an aggregate is made of rows that may be somebody else's")
        for window in windows_of(select):
            require(window.args.get("partition_by") or (), "a window")
        if select.once_by:
            require(select.once_by, "DISTINCT ON")
        if select.distinct:
            require([output.value for output in select.outputs], "DISTINCT")
        if select.limit is not None or select.offset:
            require((), "LIMIT")

    # -------------------------------------------------------------- FROM

    def _item(
        self, item: NativeItem, around: Facts, beside: Facts
    ) -> tuple[NativeItem, tuple[Clause, ...], Facts]:
        """Return an item of FROM with its links followed, its owners as its columns, and what holds of it."""
        if isinstance(item.rows, Scan):
            followed = self.links.followed(item.rows, beside)
            if followed is None:
                return item, (), Facts(scans=(item.rows,))
            found = followed
        else:
            found = self.query(item.rows, around)
        shown = self.exposed(found)
        same = tuple(
            ((item.alias, name), (value.table, value.name))
            for name, value in zip(names_of(shown.query), shown.outputs, strict=True)
            if isinstance(value, exp.Column)
        )
        self.links.met(item.alias, shown.query)
        clauses = tuple(seen_from(clause, item.alias, shown) for clause in shown.clauses)
        return replace(item, rows=shown.query), clauses, shown.facts + Facts(same=same)

    def exposed(self, found: Attributed) -> Attributed:
        """Return a query that shows its owners: as columns that it has anyway, else as more columns.

        Rows that agree on what they had before agree on these too where equal rows are one, or are grouped.
        """
        select = found.query
        if not isinstance(select, NativeSelect):
            return found  # the owners of a set are columns of it
        equal = found.facts.equalities(self.lookup)
        outputs, types, shown = list(select.outputs), list(select.types), list(found.outputs)
        keys = select.keys
        meant: dict[str, Scalar] = {}
        for value in (value for clause in found.clauses for o in clause.owners for value in o.values):
            alike = next((one for one in shown if one is not None and equal.are(one, value)), None)
            if alike is None:
                alike = value
                if keys is not None:
                    alike = next((key for key in keys if equal.are(key, value)), value)
                    keys = keys if alike in keys else (*keys, alike)
                outputs.append(Output(unused_name(outputs), alike))
                types.append(type_of(value, self.lookup))
                shown.append(alike)
            meant[value.sql()] = alike
        clauses = tuple(
            replace(
                clause,
                alternatives=tuple(
                    tuple(Owner(o.kind, tuple(meant[value.sql()] for value in o.values)) for o in owners)
                    for owners in clause.alternatives
                ),
            )
            for clause in found.clauses
        )
        made = replace(select, outputs=tuple(outputs), types=tuple(types), keys=keys)
        return Attributed(made, clauses, found.facts, tuple(shown))

    # -------------------------------------------------------------- UNION, INTERSECT, EXCEPT

    def _set(self, query: NativeSet, around: Facts) -> Attributed:
        left, right = self.query(query.left, around), self.query(query.right, around)
        made = replace(query, left=left.query, right=right.query)
        alias = self.links.fresh("both")
        self.links.met(alias, made)
        places = tuple(column(alias, name) for name in query.names)
        if not left.clauses and not right.clauses:
            return Attributed(made, (), Facts(), places)
        word = query.word.value
        if query.limit is not None or query.offset:
            raise NotOwn("LIMIT keeps rows because of others, which may be somebody else's")
        first, second = self._by_place(left), self._by_place(right)
        if first is None or second is None:
            raise NotOwn(f"{word} mixes rows of several participants, and does not show whose they are")
        if query.word is SetWord.INTERSECT:
            first |= second
        elif second - first or (query.word is SetWord.UNION and first - second):
            raise NotOwn(f"{word} mixes rows of several participants")
        clauses = tuple(
            Clause(((Owner(kind, tuple(places[place] for place in named)),),))
            for kind, named in sorted(first)
        )
        return Attributed(made, clauses, Facts(), places)

    def _by_place(self, found: Attributed) -> set[tuple[str, tuple[int, ...]]] | None:
        """Return the owners of rows by the places of their columns; None where one is not shown."""
        equal = found.facts.equalities(self.lookup)
        owners: set[tuple[str, tuple[int, ...]]] = set()
        for clause in found.clauses:
            for owner in clause.owners:
                named = [
                    next(
                        (p for p, one in enumerate(found.outputs) if one is not None and equal.are(one, v)),
                        -1,
                    )
                    for v in owner.values
                ]
                if not clause.certain or -1 in named:
                    return None
                owners.add((owner.kind, tuple(named)))
        return owners

    # -------------------------------------------------------------- expressions

    def _changed(self, select: NativeSelect, inside: Facts) -> NativeSelect:
        """Return a SELECT whose expressions hold own subqueries only."""

        def values(scalars: Sequence[Scalar]) -> tuple[Scalar, ...]:
            return self._scalars(scalars, inside)

        def tests(scalars: Sequence[Scalar]) -> tuple[Scalar, ...]:
            return self._scalars(scalars, inside, tested=True)

        shown = values([output.value for output in select.outputs])
        return replace(
            select,
            outputs=tuple(Output(o.name, value) for o, value in zip(select.outputs, shown, strict=True)),
            where=tests(select.where),
            keys=None if select.keys is None else values(select.keys),
            having=tests(select.having),
            qualify=tests(select.qualify),
            once_by=values(select.once_by),
            order=tuple(replace(o, value=v) for o in select.order for v in values([o.value])),
        )

    def _scalars(
        self, scalars: Sequence[Scalar], inside: Facts, *, tested: bool = False
    ) -> tuple[Scalar, ...]:
        """Return expressions over rows with their subqueries, all of which must be own.

        `tested` says that only those rows are used for which they hold.
        """

        def change(node: exp.Expr) -> exp.Expr:
            return self.inner(node, inside, tested=False) if isinstance(node, Inner) else node

        return tuple(
            self.inner(scalar, inside, tested=tested)
            if isinstance(scalar, Inner)
            else scalar.transform(change)
            if scalar.find(Inner)
            else scalar
            for scalar in scalars
        )

    def inner(self, node: Inner, inside: Facts, *, tested: bool) -> Inner:
        """Return a subquery of an expression with its links followed, or refuse it."""
        operands = self._scalars(node.args.get("operands") or (), inside)
        found = self.query(node.args["query"], inside)
        known = inside + found.facts
        if node.args["word"] == "IN":
            pairs = list(zip(operands, found.outputs, strict=True))
            filled = (known + certain(found.clauses)).filled()
            if tested or all(name_of(a) in filled and name_of(b) in filled for a, b in pairs):
                # rows that are not equal to the operands say nothing
                equal = tuple(exp.EQ(this=a.copy(), expression=b.copy()) for a, b in pairs if b is not None)
                known += Facts(conditions=equal)
        if self._uncovered(known, found.clauses):
            raise NotOwn("a subquery looks at rows that may be somebody else's")
        args = node.args
        made = inner(args["word"], found.query, operands, args.get("operator"), args.get("shown") or "")
        made.meta.update(node.meta)
        return made
