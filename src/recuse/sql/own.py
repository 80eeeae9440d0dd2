"""Subqueries that nobody but the row's own owners can change: row-wise, whatever they look at."""

from __future__ import annotations

from collections.abc import Sequence

from recuse.sql.elaborate import Lookup
from recuse.sql.query import Block, Scalar, Schema
from recuse.sql.render import native_exists


def settled(
    branches: Sequence[Block], _around: Sequence[Block], schema: Schema, _lookup: Lookup
) -> Scalar | None:
    """Return EXISTS of the branches in plain SQL if nobody can withdraw what it looks at, else None."""
    return native_exists(branches) if all(map(schema.is_public, branches)) else None
