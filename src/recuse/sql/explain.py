"""What was understood, in words: the tables and their owners, the joins added, the SQL that will run.

Everything comes from the SQL, the policy and the catalogue; no data is touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from recuse.fold import same
from recuse.policy import Key, Policy
from recuse.sql.derive import owned
from recuse.sql.lower import written_out
from recuse.sql.native.words import own_words
from recuse.sql.ownership import Linked, Owned, ProtectedTable, PublicTable
from recuse.sql.query import Block, Measure, Scan, Schema, SetOf, sources_of
from recuse.sql.read import Reading
from recuse.sql.render import readable
from recuse.sql.sharing import Sharing


@dataclass(frozen=True, slots=True)
class TableNote:
    """One table of the query: its alias, its name, and how its rows are owned."""

    alias: str
    table: str
    ownership: str


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """The answer to "what would you do with this query?"."""

    questions: tuple[str, ...]
    understood: tuple[str, ...]
    tables: tuple[TableNote, ...]
    owners: tuple[str, ...]
    completed: tuple[str, ...]
    epsilon: tuple[str, ...]
    derivations: tuple[str, ...]
    own: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield the explanation for a terminal."""
        for question, understood in zip(self.questions, self.understood, strict=True):
            yield f"question    {question}"
            yield f"understood  {understood}"
        for note in self.tables:
            alias = "" if same(note.alias, note.table) else f" as {note.alias}"
            yield f"table       {note.table}{alias}: {note.ownership}"
        for line in self.completed:
            yield f"completed   {line}"
        for line in self.own:
            yield f"own         {line}"
        for owner in self.owners or ("nobody: all tables are public",):
            yield f"owner       {owner}"
        for line in self.epsilon:
            yield f"epsilon     {line}"
        for sql in self.derivations:
            yield f"derivations {sql}"

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def explain(
    question: Reading,
    measures: Sequence[Measure],
    derivations: tuple[str, ...],
    schema: Schema,
    *,
    sharing: Sequence[Sharing] | None,
    sparing: tuple[Key, ...],
) -> Explanation:
    """Return the explanation of a question as asked, and of its measures as the passes left them.

    `sharing`: how the groups of each measure share ε; `sparing`: the keys that would spare a split.
    """
    blocks = [block for measure in measures for block in measure.blocks]
    scans = {source.alias: source for source in sources_of(blocks) if isinstance(source, Scan)}
    return Explanation(
        questions=tuple(measure.aggregate.words(schema) for measure in question.measures),
        understood=tuple(
            readable(written_out(measure, schema), schema.catalogue.dialect) for measure in question.measures
        ),
        tables=tuple(
            TableNote(scan.alias, scan.table.name, describe(schema.ownership.of(scan.table.name)))
            for scan in scans.values()
        ),
        owners=tuple(dict.fromkeys(_owners(blocks))),
        completed=tuple(dict.fromkeys(_completed(blocks))),
        epsilon=tuple(_split(len(measures), sharing, sparing)),
        derivations=derivations,
        own=tuple(dict.fromkeys(own_words([b for m in question.measures for b in m.blocks], schema))),
    )


SHARED: dict[Sharing, str] = {
    Sharing.SIDE_BY_SIDE: "in full for every group: each participant touches one group only",
    Sharing.ONE_OWNER: "in full for the noise of every group: each row has one owner",
    Sharing.SPLIT: "split over the groups: a participant may touch several",
}


def _split(measures: int, sharing: Sequence[Sharing] | None, sparing: Sequence[Key]) -> Iterator[str]:
    if measures > 1:
        yield f"split evenly over {measures} aggregates"
    for form in dict.fromkeys(sharing or ()):
        yield SHARED[form]
    for key in sparing:
        yield f"not split if each {key} has one row only: then say so with [[key]] in the policy"


def _below(block: Block) -> Iterator[Block]:
    for source in block.sources:
        if isinstance(source, SetOf):
            yield from source.branches
    for choice in block.choices:
        yield from choice.branches


def _owners(blocks: Iterable[Block], prefix: str = "") -> Iterator[str]:
    """Yield the owners of every row; those of choices and sets are alternatives."""
    for block in blocks:
        for owner in block.owners:
            yield f"{prefix}{owner.kind} {', '.join(readable(value) for value in owner.values)}"
        below = [inner for inner in _below(block) if owned([inner])]
        yield from _owners(below, "any of: ")


def _completed(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        yield from block.completed
        yield from _completed(_below(block))


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
