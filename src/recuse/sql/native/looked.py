"""What a question looks at, also in what is run as it is: its tables and its expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from recuse.sql.measure import Measure
from recuse.sql.native.inner import Inner, NativeRows
from recuse.sql.native.tree import NativeQuery, NativeSelect, native_below, native_scalars, native_scans
from recuse.sql.query import Block, Own, Scalar, Scan
from recuse.sql.walk import below, sources_of, written_scalars


def scans_of(measure: Measure) -> dict[str, Scan]:
    """Return every table that a measure looks at, by its alias."""
    blocks = list(below(measure.blocks))
    known = {source.alias: source for source in measure.known if isinstance(source, Scan)}
    named = {
        table.alias_or_name
        for block in blocks
        for scalar in written_scalars(block)
        for table in scalar.find_all(exp.Table)
    }
    found = [source for source in sources_of(measure.blocks) if isinstance(source, Scan)]
    found += [known[alias] for alias in sorted(named) if alias in known]
    found += [scan for query in _run_as_they_are(blocks) for scan in native_scans(query)]
    return {scan.alias: scan for scan in found}


def scalars_below(measure: Measure) -> list[Scalar]:
    """Return every expression of a measure's rows, those of what is run as it is among them."""
    blocks = list(below(measure.blocks))
    selects = [part for query in _run_as_they_are(blocks) for part in native_below(query)]
    return [
        *(scalar for block in blocks for scalar in written_scalars(block)),
        *(
            scalar
            for select in selects
            if isinstance(select, NativeSelect)
            for scalar in native_scalars(select)
        ),
    ]


def _run_as_they_are(blocks: Iterable[Block]) -> Iterator[NativeQuery]:
    for block in blocks:
        for source in block.sources:
            if isinstance(source, Own):
                yield source.query
        for scalar in written_scalars(block):
            for inner in scalar.find_all(Inner, NativeRows):
                yield inner.args["query"]
