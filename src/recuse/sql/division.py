"""Division by a public table: `NOT EXISTS (SELECT … FROM p WHERE NOT EXISTS (…))`, who has all of a list."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from recuse.scalars.types import Float, Opaque
from recuse.sql.elaborate import Lookup, type_of
from recuse.sql.query import Block, Choice, Output, Quorum
from recuse.sql.schema import Schema
from recuse.sql.walk import below, is_correlated, scalars_of


def all_have(block: Block, schema: Schema, lookup: Lookup) -> Block | None:
    """Return what is there while every public row of a block has what the block's rows lack.

    It is a threshold of as many as there are. None if the rows are not public, look at the row around, or
    lack what itself lacks something.

    Guarantee: positive, whoever withdraws (proofs.md, theorem Q4).
    """
    public = replace(block, absent=(), outputs=())
    here = {source.alias for source in public.sources}
    used = {
        (part.table, part.name): part
        for branch in block.absent
        for scalar in scalars_of(branch)
        for part in scalar.find_all(exp.Column)
        if part.table in here
    }
    nested = any(inner.absent for inner in below(block.absent))
    if not used or nested or is_correlated([public]) or not schema.is_public(public):
        return None
    if any(isinstance(type_of(part, lookup), Float | Opaque) for part in used.values()):
        return None
    outputs = tuple(Output(f"v{n}", part.copy()) for n, part in enumerate(used.values(), start=1))
    shown = replace(public, outputs=outputs)
    having = tuple(replace(shown.joined(branch), outputs=outputs) for branch in block.absent)
    return Block(choices=(Choice(having, quorum=Quorum(shown, distinct=True)),))
