"""Queries of any form that are own: as sources whose rows have owners, and inside expressions of a row."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from recuse.fold import fold
from recuse.sql.equalities import Equalities, Name
from recuse.sql.native.attribute import Attribution
from recuse.sql.native.facts import Facts
from recuse.sql.native.follow import Attributed, Links
from recuse.sql.native.inner import PROVED, Inner
from recuse.sql.native.seen import NotOwn
from recuse.sql.native.tree import (
    NativeQuery,
    NativeSelect,
    names_of,
    native_below,
    native_scans,
    outer_columns,
)
from recuse.sql.own import completed_around
from recuse.sql.ownership import PublicTable
from recuse.sql.query import Block, BlockSource, Own, Owner, Scalar, Scan, column
from recuse.sql.schema import Schema


def own_source(
    alias: str, query: NativeQuery, around: Sequence[Block], schema: Schema, sources: list[BlockSource]
) -> Own:
    """Return a query as a source whose rows have owners, or say why they cannot (`NotOwn`).

    Guarantee: whoever withdraws takes along exactly the rows that they own (proofs.md, theorem B1).
    """
    links = Links(schema, list(sources), _aliases(query))
    proof = Attribution(links)
    known = _facts_around(around, schema, links)
    met = len(links.sources)
    found = proof.exposed(proof.query(query, known))
    if not all(clause.certain for clause in found.clauses):
        raise NotOwn("its rows belong to any of several participants")
    links.met(alias, found.query)
    sources += links.sources[met:]
    names = names_of(found.query)
    shown = {value.sql(): column(alias, n) for n, value in zip(names, found.outputs, strict=True) if value}
    owners = [owner for clause in found.clauses for owner in clause.owners]
    uses = tuple(outer_columns(found.query))
    private = [schema.ownership.of(scan.table.name) for scan in native_scans(found.query)]
    return Own(
        alias,
        found.query,
        names,
        found.query.types,
        tuple(Owner(o.kind, tuple(shown[value.sql()] for value in o.values)) for o in owners),
        found.facts + Facts(same=_same(alias, found)),
        unique=_unique(found),
        origins=tuple(_origin(value, found.facts) for value in found.outputs),
        uses=uses,
        public=not uses and all(isinstance(owned, PublicTable) for owned in private),
        proved=tuple(links.proved),
    )


def own_inner(
    node: Inner, around: Sequence[Block], schema: Schema, sources: list[BlockSource], *, tested: bool
) -> Inner:
    """Return a subquery of an expression with its links followed if it is own, or say why not (`NotOwn`).

    `tested` says that only rows for which it holds are used. Guarantee: as `settled`.
    """
    links = Links(schema, list(sources), _aliases(node.args["query"]))
    known = _facts_around(around, schema, links)
    met = len(links.sources)
    found = Attribution(links).inner(node, known, tested=tested)
    sources += links.sources[met:]
    found.meta[PROVED] = tuple(links.proved)
    return found


def _facts_around(around: Sequence[Block], schema: Schema, links: Links) -> Facts:
    """Return what is known of the row around."""
    taken = {fold(source.alias): source for source in links.sources}
    blocks = completed_around(around, schema, taken)
    links.sources[:] = taken.values()
    found = Facts(
        owners=tuple(owner for block in blocks for owner in block.owners),
        conditions=tuple(condition for block in blocks for condition in block.conditions),
        scans=tuple(
            source
            for block in blocks
            for source in block.sources
            if isinstance(source, Scan) and source.preserving is None
        ),
    )
    for source in (source for block in blocks for source in block.sources if isinstance(source, Own)):
        found += source.facts
    return found


def _aliases(query: NativeQuery) -> frozenset[str]:
    return frozenset(
        item.alias for one in native_below(query) if isinstance(one, NativeSelect) for item in one.items
    )


def _same(alias: str, found: Attributed) -> tuple[tuple[Name, Name], ...]:
    """Return which columns of a source are which of what is inside of it."""
    pairs = zip(names_of(found.query), found.outputs, strict=True)
    return tuple(((alias, n), (v.table, v.name)) for n, v in pairs if isinstance(v, exp.Column))


def _unique(found: Attributed) -> tuple[str, ...] | None:
    """Return the columns that are the keys of a grouped query, if all are shown: no two rows share them."""
    query = found.query
    if not isinstance(query, NativeSelect) or not query.keys:
        return None
    names = {output.value.sql(): output.name for output in query.outputs}
    keys = [names.get(key.sql()) for key in query.keys]
    return None if None in keys else tuple(name for name in keys if name is not None)


def _origin(value: Scalar | None, facts: Facts) -> tuple[Scan, str] | None:
    """Return the table and column that an output is taken from."""
    if not isinstance(value, exp.Column):
        return None
    equal = Equalities({}).joined(facts.same)
    for scan in facts.scans:
        for known in scan.table.columns:
            if equal.are(value, column(scan.alias, known.name)):
                return scan, known.name
    return None
