"""Whose rows are, in words."""

from __future__ import annotations

from collections.abc import Iterator

from recuse.policy import Policy
from recuse.sql.ownership import Linked, Owned, ProtectedTable, PublicTable


def stated_owners(policy: Policy) -> Iterator[str]:
    """Yield what a policy says of each table, before any catalogue is looked at."""
    for entry in policy.protect:
        if entry.table is None:
            yield f"{entry.kind}: a kind of participant without a table"
        else:
            yield f"{entry.table}: each ({', '.join(map(str, entry.key))}) is one participant"
    for link in policy.links:
        yield f"{link.table}: a row belongs to {str(link).removeprefix(link.table)}"
    for public in policy.public:
        yield f"{public.table}: public"


def describe(owned: Owned | None) -> str:
    """Return in words how the rows of a table are owned."""
    if isinstance(owned, ProtectedTable):
        return f"each ({', '.join(map(str, owned.key))}) is one participant"
    if isinstance(owned, Linked):
        parts = []
        for hop in owned.hops:
            columns = " or ".join(f"({', '.join(names)})" for names in hop.alternatives)
            parts.append(f"{columns} → {hop.target}")
        return "a row belongs to " + " and ".join(parts)
    if isinstance(owned, PublicTable):
        return "public"
    return "not mentioned in the policy, so no query may touch it"
