"""Which parts of a question are own, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from recuse.sql.equalities import UniqueKey
from recuse.sql.native.inner import PROVED, Inner, NativeRows
from recuse.sql.native.tree import NativeQuery, native_scans
from recuse.sql.ownership import PublicTable
from recuse.sql.query import Block, Own
from recuse.sql.render import readable
from recuse.sql.schema import Schema
from recuse.sql.walk import below, written_scalars


def own_words(blocks: Iterable[Block], schema: Schema) -> Iterator[str]:
    """Yield a sentence for every source and every subquery of blocks, as they were read, that is own."""
    for block in below(blocks):
        for source in block.sources:
            if isinstance(source, Own) and not source.public:
                looked_at = _listed(_private(source.query, schema))
                owners = [
                    f"{o.kind} {', '.join(readable(v.copy()) for v in o.values)}" for o in source.owners
                ]
                whose = " and ".join(owners) or "the owners of the row beside it"
                told = f"{source.alias} is run as it is over {looked_at}: each of its rows belongs to {whose}"
                yield told + _by(source.proved)
        for scalar in written_scalars(block):
            for tables, keys in _subqueries(scalar, schema):
                told = f"a subquery on {_listed(tables)} is run as it is: all it sees is its row's owners'"
                yield told + _by(keys)


def _by(keys: Iterable[UniqueKey]) -> str:
    """Return which keys prove it; none, where equal columns say it all."""
    named = " and ".join(f"({', '.join(columns)}) of {table}" for table, columns in keys)
    return f"; proved by the unique key {named}" if named else ""


def _subqueries(scalar: exp.Expr, schema: Schema) -> Iterator[tuple[list[str], Iterable[UniqueKey]]]:
    """Yield the private tables of every outermost subquery of an expression, and what proves it own."""
    for node in scalar.walk(prune=lambda part: isinstance(part, Inner | exp.Exists)):
        found: list[str] = []
        keys: Iterable[UniqueKey] = ()
        if isinstance(node, Inner):
            found = _private(node.args["query"], schema)
            keys = node.meta.get(PROVED, ())
        elif isinstance(node, exp.Exists):
            names = [table.name for table in node.find_all(exp.Table)]
            found = [name for name in names if not _is_public(name, schema)]
            for rows in node.find_all(NativeRows):
                found += _private(rows.args["query"], schema)
        if found:
            yield found, keys


def _private(query: NativeQuery, schema: Schema) -> list[str]:
    names = [scan.table.name for scan in native_scans(query)]
    return [name for name in names if not _is_public(name, schema)]


def _is_public(name: str, schema: Schema) -> bool:
    return isinstance(schema.ownership.of(name), PublicTable)


def _listed(tables: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(tables))
