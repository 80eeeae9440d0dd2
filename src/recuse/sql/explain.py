"""What was understood, in words: the tables and their owners, the joins added, how ε is split.

Everything comes from the SQL, the policy and the catalogue; no data is touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from textwrap import wrap
from typing import TypeVar

from recuse.fold import same
from recuse.html import fields
from recuse.policy import Key
from recuse.sql.dense import Dense
from recuse.sql.ends import FIND_SHARES, RANGE_SHARE
from recuse.sql.formula import Arrange, FirstRows, Keep, Look, Stack, measures_in
from recuse.sql.grouping import MAX_GROUPS
from recuse.sql.groups import GroupKey, Joined, Queried, Referenced
from recuse.sql.listed import Listed
from recuse.sql.lower import written_out
from recuse.sql.measure import Measure
from recuse.sql.native.looked import scans_of
from recuse.sql.native.words import own_words
from recuse.sql.owned_words import describe
from recuse.sql.query import Block, Scan, SetOf
from recuse.sql.reading import Reading
from recuse.sql.render import readable
from recuse.sql.schema import Schema
from recuse.sql.sharing import Sharing
from recuse.sql.walk import below, owned, sources_of

WIDTH = 80
SET_SAYS = "equal rows are one, which stays while any of them does: DISTINCT, UNION, INTERSECT"
CHOICE_SAYS = "a row stays while any row that it needs one of does: EXISTS, IN, ANY, or an any link"


@dataclass(frozen=True, slots=True)
class FirstNote:
    """A number that is released first: how the question writes it, how many aggregates of people it needs.

    It stands in the question, or is an `end` of a key of GROUP BY.
    """

    text: str
    measures: int
    end: bool = False


@dataclass(frozen=True, slots=True)
class TableNote:
    """One table of the query."""

    alias: str
    table: str
    ownership: str
    """whose its rows are, in words"""


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """The answer to "what would you do with this query?"; `sql` is what would be run."""

    firsts: tuple[FirstNote, ...]
    questions: tuple[str, ...]
    understood: tuple[str, ...]
    tables: tuple[TableNote, ...]
    completed: tuple[str, ...]
    owners: tuple[str, ...]
    how: tuple[str, ...]
    groups: tuple[str, ...]
    epsilon: tuple[str, ...]
    then: tuple[str, ...]
    own: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    sql: tuple[str, ...] = ()

    def lines(self, width: int = WIDTH) -> Iterator[str]:
        """Yield the explanation for a terminal; the SQL that would be run is not in it."""
        for name, text in self._said():
            yield from wrap(
                f"{name:<12}{text}",
                width,
                subsequent_indent=" " * 12,
                break_long_words=False,
                break_on_hyphens=False,
            )

    def _said(self) -> Iterator[tuple[str, str]]:
        for first in self.firsts:
            if first.end:
                yield "first", f"{first.text} is released: an end of the groups"
            elif first.measures:
                yield "first", f"{first.text} is released, and its released value stands in the question"
            else:
                yield "first", f"{first.text} is about nobody: its exact value stands in the question"
        for question, understood in zip(self.questions, self.understood, strict=True):
            yield "question", question
            yield "understood", understood
        for note in self.tables:
            alias = "" if same(note.alias, note.table) else f" as {note.alias}"
            yield "table", f"{note.table}{alias}: {note.ownership}"
        yield from (("completed", line) for line in self.completed)
        yield from (("own", line) for line in self.own)
        yield from (("owner", owner) for owner in self.owners or ("nobody: all tables are public",))
        yield from (("how", line) for line in self.how)
        yield from (("groups", line) for line in self.groups)
        yield from (("epsilon", line) for line in self.epsilon)
        yield from (("then", line) for line in self.then)
        yield from (("warning", line) for line in self.warnings)

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        """Return the explanation for a notebook."""
        return fields(self._said())


def explain(
    question: Reading,
    measures: Sequence[Measure],
    sql: tuple[str, ...],
    schema: Schema,
    *,
    sharing: Sequence[str],
    sparing: tuple[Key, ...],
    said: Sequence[str] = (),
    firsts: Sequence[tuple[FirstNote, Explanation]] = (),
    finding: Sharing | None = None,
) -> Explanation:
    """Return the explanation of a question as asked, and of its measures as the passes left them.

    `sharing`: how the groups of each measure share ε, in words; `sparing`: the keys that would put them side
    by side; `said`: what else is so of its rows.
    `firsts`: the numbers that are released first; `finding`: how keys are found among the rows, if any are.
    """
    blocks = [block for measure in measures for block in measure.blocks]
    scans = {source.alias: source for source in sources_of(blocks) if isinstance(source, Scan)}
    joined = {scan.table.name for scan in scans.values()}
    beside = (scan for measure in question.measures for scan in scans_of(measure).values())
    scans |= {scan.table.name: scan for scan in beside if scan.table.name not in joined}
    notes = [
        TableNote(alias, scan.table.name, describe(schema.ownership.of(scan.table.name)))
        for alias, scan in scans.items()
    ]
    inner = [explanation for _, explanation in firsts]
    return Explanation(
        firsts=tuple(note for note, _ in firsts),
        questions=tuple(measure.aggregate.words(schema) for measure in question.written),
        understood=tuple(
            readable(written_out(measure, schema), schema.catalogue.dialect) for measure in question.written
        ),
        tables=_once(notes, *(one.tables for one in inner)),
        owners=_once(_owners(blocks), *(one.owners for one in inner)),
        completed=_once(_completed(blocks), *(one.completed for one in inner)),
        how=_once(question.says, _how(blocks), said, *(one.how for one in inner)),
        groups=(*map(_group, question.keys), *_key_sets(question)),
        epsilon=tuple(
            _split(
                sum(map(_is_owned, measures)),
                [note for note, _ in firsts],
                question.first_share,
                sharing,
                sparing,
                finding,
            )
        ),
        then=tuple(_then(question)),
        own=_once(
            own_words([b for m in question.measures for b in m.blocks], schema), *(one.own for one in inner)
        ),
        sql=_once(*(one.sql for one in inner), sql),
    )


T = TypeVar("T")


def _once(*found: Iterable[T]) -> tuple[T, ...]:
    """Return all that was found, each once."""
    return tuple(dict.fromkeys(one for some in found for one in some))


def _is_owned(measure: Measure) -> bool:
    return any(owned([block]) for block in measure.blocks)


def _split(
    measures: int,
    notes: Sequence[FirstNote],
    share: Fraction,
    sharing: Sequence[str],
    sparing: Sequence[Key],
    finding: Sharing | None,
) -> Iterator[str]:
    firsts = sum(note.measures for note in notes if not note.end)
    ends = sum(note.measures for note in notes if note.end)
    if finding is not None:
        yield f"{FIND_SHARES[finding]} for finding groups among the rows; delta is charged, too"
    if ends:
        several = "the ends of the groups" if ends > 1 else "the end of the groups"
        yield f"{RANGE_SHARE} for {several}, which {'are' if ends > 1 else 'is'} released first"
    if firsts and measures:
        several = f"the {firsts} aggregates that are" if firsts > 1 else "what is"
        yield f"{share} for {several} released first, the rest for the question"
    elif firsts > 1:
        yield f"split evenly over {firsts} aggregates that are released first"
    if measures > 1:
        yield f"split evenly over {measures} aggregates"
    yield from dict.fromkeys(sharing)
    for key in sparing:
        yield f"group by group if each {key} has one row only: then say so with [[key]] in the policy"


def _group(key: GroupKey) -> str:
    match key.origin:
        case Listed(values=values):
            return f"{key.name}: {len(values)} values, known without looking"
        case Dense(size=int(size)):
            null = ", and NULL" if key.origin.null else ""
            count = size - key.origin.null
            return f"{key.name}: {count} values between ends that are known without looking{null}"
        case Dense():
            null = ", and NULL" if key.origin.null else ""
            cut = "large ones" if key.origin.step.counted else "early ones"
            between = "all values between ends that are released first"
            return f"{key.name}: {between}{null}; {cut} are cut beyond {MAX_GROUPS:,} groups"
        case Referenced(table, column):
            return f"{key.name}: the values of {table.name}.{column}, which is public and referenced"
        case Queried():
            return f"{key.name}: what the query of its [[domain]] returns"
        case Joined.FOUND:
            return f"{key.name}: found among the rows with delta; groups of few people may be missing"
    return f"{key.name}: the values that public tables have"


def _key_sets(question: Reading) -> Iterator[str]:
    """Yield the sets of keys that ROLLUP and the like ask for."""
    if question.sets:
        named = (", ".join(key.name for key in question.keys_of(n)) for n in range(len(question.sets)))
        told = ", ".join(f"({names})" for names in named)
        yield f"{len(question.sets)} sets of keys, each asked by itself: {told}"


def _then(question: Reading) -> Iterator[str]:
    """Yield what is done with the rows once they are released, and what it needs besides the columns."""
    words = {Keep: "HAVING", Look: "windows", Arrange: "ORDER BY", FirstRows: "LIMIT", Stack: "UNION"}
    steps = list(dict.fromkeys(words[type(step)] for step in question.steps))
    if steps:
        yield f"{', '.join(steps)} over the released numbers: free"
    shown = {measure for column in question.columns for measure in measures_in(column.what)}
    further = [place for place in range(len(question.written)) if place not in shown]
    if further:
        several = len(further) > 1
        named = f"{len(further)} aggregates are" if several else "1 aggregate is"
        yield f"{named} only in HAVING or ORDER BY, and {'share' if several else 'shares'} epsilon"


def _how(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield how rows depend on others, in the words of whoever read them."""
    for block in below(blocks):
        yield from block.says
        if any(isinstance(source, SetOf) and owned(source.branches) for source in block.sources):
            yield SET_SAYS
        if any(owned(choice.branches) for choice in block.choices):
            yield CHOICE_SAYS


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
            yield f"{prefix}{owner.kind} {', '.join(readable(value.copy()) for value in owner.values)}"
        below = [inner for inner in _below(block) if owned([inner])]
        yield from _owners(below, "any of: ")


def _completed(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        yield from block.completed
        yield from _completed(_below(block))
