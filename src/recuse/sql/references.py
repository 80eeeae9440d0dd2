"""Links against enforced references: a link that names somebody else than the database says is refused.

A reference says whose key a column holds. A link over the same columns to another key would give every row
the owner whose name happens to be the same: visit.ssn = 7 is not person.id = 7.
"""

from __future__ import annotations

from collections.abc import Iterator

from recuse.errors import PolicyError
from recuse.fold import fold, same
from recuse.policy import KeyItem, Link, Policy
from recuse.sql.catalogue import Catalogue, ForeignKey, Table

Place = tuple[str, tuple[str, ...]]
"""A table and columns of it, as they are compared; a kind of participant has none."""


def place(table: str, columns: tuple[str, ...]) -> Place:
    """Return where values stand."""
    return fold(table), tuple(map(fold, columns))


def named_by(reference: ForeignKey, columns: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return which columns of its target a reference says that these are; None if it leaves one out."""
    known = dict(zip(map(fold, reference.columns), reference.target_columns, strict=True))
    found = [known.get(fold(column)) for column in columns]
    return None if None in found else tuple(name for name in found if name is not None)


def refuse_contradiction(
    link: Link, columns: tuple[str, ...], key: tuple[KeyItem, ...], policy: Policy, catalogue: Catalogue
) -> None:
    """Refuse a link whose columns hold, as the database enforces, another key than the link says."""
    table = catalogue.table(link.table)
    stated = [] if table is None else list(_about(table, columns, link.to))
    if table is None or not stated or not _judged(stated, link, policy):
        return
    goals = _goals(link, key, policy)
    known = _same_values(place(table.name, columns), link.table, policy, catalogue)
    if any(known & _same_values(goal, "", policy, catalogue) for goal in goals):
        return
    if any(place(reference.target, named) in goals for reference, named in stated):
        return
    reference, named = stated[0]
    ours, theirs = _written(table.name, columns), _written(reference.target, named)
    wanted = _written(link.to, tuple(map(str, key))) if key else link.to
    raise PolicyError(
        f"the link {ours} → {link.to} contradicts the database: there it references {theirs}, not {wanted}",
        line=link.line,
        hint=_instead(reference, named, link),
    )


def _about(table: Table, columns: tuple[str, ...], to: str) -> Iterator[tuple[ForeignKey, tuple[str, ...]]]:
    """Yield the references of exactly these columns, and those of more columns to the same table."""
    for reference in table.foreign_keys:
        named = named_by(reference, columns)
        if named is not None and (len(reference.columns) == len(columns) or same(reference.target, to)):
            yield reference, named


def _judged(stated: list[tuple[ForeignKey, tuple[str, ...]]], link: Link, policy: Policy) -> bool:
    """Return whether references say anything of the link: of a virtual kind only tables with owners do."""
    if policy.virtual_kind(link.to) is None:
        return True
    return any(
        policy.protected_table(reference.target) or policy.links_of(reference.target)
        for reference, _ in stated
    )


def _goals(link: Link, key: tuple[KeyItem, ...], policy: Policy) -> list[Place]:
    """Return where the values stand that the link should hold."""
    if policy.virtual_kind(link.to) is None:
        return [place(link.to, named) for named in _spellings(key)]
    others = (
        other for other in policy.links if same(other.to, link.to) and not same(other.table, link.table)
    )
    return [place(other.table, columns) for other in others for columns in other.alternatives]


def _spellings(key: tuple[KeyItem, ...]) -> list[tuple[str, ...]]:
    """Return the columns that a key is made of; those of least and greatest in either order."""
    plain = tuple(item.columns[0] for item in key)
    if all(len(item.columns) == 1 for item in key):
        return [plain]
    both = tuple(dict.fromkeys(column for item in key for column in item.columns))
    return [both, both[::-1]]


def _same_values(start: Place, judged: str, policy: Policy, catalogue: Catalogue) -> set[Place]:
    """Return all places that hold the same values by enforced references, and by links of other tables."""
    found, waiting = {start}, [start]
    while waiting:
        name, columns = waiting.pop()
        table = catalogue.table(name)
        for reference in table.foreign_keys if table is not None else ():
            named = named_by(reference, columns)
            if named is not None and len(reference.columns) == len(columns):
                waiting += {place(reference.target, named)} - found
        for link in policy.links_of(name) if not same(name, judged) else ():
            target = policy.protected_table(link.to)
            if target is not None and tuple(map(fold, link.alternatives[0])) == columns:
                plain = tuple(item.columns[0] for item in target.key)
                waiting += {place(link.to, plain)} - found
        found |= set(waiting)
    return found


def _written(table: str, columns: tuple[str, ...]) -> str:
    return f"{table}({', '.join(columns)})"


def _instead(reference: ForeignKey, named: tuple[str, ...], link: Link) -> str:
    listed = ", ".join(f'"{name}"' for name in named)
    if same(reference.target, link.to):
        return (
            f"name participants by what is referenced (key = [{listed}]), or link by a column that is the key"
        )
    through = reference.target
    return f'link {link.table} to {through} (to = "{through}"), and {through} to {link.to}'
