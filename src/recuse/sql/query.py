"""The query as it was understood: blocks of sources, conditions and choices, and what passes add to them.

    Measure   one aggregate: the blocks whose rows it counts or sums (several blocks: UNION ALL)
    Block     rows: sources that are joined, conditions that must hold, choices of which one must hold
    Choice    an OR: a row is there while any row of any branch is (EXISTS, IN, OR over them, `any` links)
    absent    branches of which no row may be there (NOT EXISTS, outer joins, EXCEPT); `split_signs` makes
              two blocks of one that has them, rows to add and rows to take away
    SetOf     a source whose equal rows are one: DISTINCT, UNION, INTERSECT
    Own       a source of any SQL, each of whose rows belongs to owners that it names

Names are resolved and spelled as the catalogue does; aliases are unique in the whole query, so that a
column means the same in a block and in the branches below it. Scalar expressions are sqlglot trees, and
never changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from recuse.fold import same
from recuse.scalars import expression
from recuse.scalars.types import Opaque, Type, stored
from recuse.sql.catalogue import Catalogue, Table
from recuse.sql.elaborate import Lookup, type_of
from recuse.sql.ownership import Ownership, PublicTable

if TYPE_CHECKING:
    from recuse.sql.native.facts import Facts
    from recuse.sql.native.tree import NativeQuery

Scalar = exp.Expr


@dataclass(frozen=True, slots=True)
class Scan:
    """A table in FROM under its alias; `preserving` is the ON of a LEFT JOIN that brings it in."""

    alias: str
    table: Table
    preserving: Scalar | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """A named column of a block's rows."""

    name: str
    value: Scalar


@dataclass(frozen=True, slots=True)
class Owner:
    """A participant that every row of a block belongs to: its kind, and the values that name it."""

    kind: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Rows: all combinations of the sources' rows for which the conditions and the choices hold.

    There is a row only while no row of any `absent` branch is there; branches may use the block's columns.
    `sign` says whether the rows are added or, after `split_signs`, taken away. `owners` and `completed` (in
    words) are filled in by the passes; `weight` and `keys` (of the groups) by
    the aggregate that the block belongs to.
    """

    sources: tuple[BlockSource, ...] = ()
    conditions: tuple[Scalar, ...] = ()
    choices: tuple[Choice, ...] = ()
    outputs: tuple[Output, ...] = ()
    owners: tuple[Owner, ...] = ()
    keys: tuple[Scalar, ...] = ()
    weight: Scalar | None = None
    completed: tuple[str, ...] = ()
    absent: tuple[Block, ...] = ()
    sign: int = 1
    says: tuple[str, ...] = ()
    """how its rows depend on others, a sentence each, for people: what is own, signed or a threshold"""

    def narrowed(self, conditions: Iterable[Scalar], choices: Iterable[Choice] = ()) -> Block:
        """Return the rows for which more conditions hold."""
        return replace(self, conditions=(*self.conditions, *conditions), choices=(*self.choices, *choices))

    def joined(self, other: Block) -> Block:
        """Return all pairs of rows of two blocks, under the outputs of this one."""
        return replace(
            self,
            sources=self.sources + other.sources,
            conditions=self.conditions + other.conditions,
            choices=_beside(self.choices, other.absent) + _beside(other.choices, self.absent),
            absent=self.absent + other.absent,
            says=self.says + other.says,
        )

    def output(self, name: str) -> Output | None:
        """Return the output of that name, in any case."""
        return next((output for output in self.outputs if same(output.name, name)), None)


@dataclass(frozen=True, slots=True)
class Choice:
    """A condition that holds while any row of any branch does; branches may use the block's columns.

    `linked` says that it stands for an `any` link of one row, each branch for one of its owners; `implied`
    that it holds wherever any row of any absent branch of its block is there. With a `quorum` it holds while
    as many rows are there as that says.
    """

    branches: tuple[Block, ...]
    linked: bool = False
    implied: bool = False
    quorum: Quorum | None = None


@dataclass(frozen=True, slots=True)
class Quorum:
    """A threshold: what the rows that are there count for adds up to `least`, which is above 1.

    A row counts for the `weight` of its block, a whole number from 0, and for 1 without; `distinct` rows,
    those of equal outputs, count once. `shows` is the set whose row is there whenever so much is.
    """

    least: int
    distinct: bool = False
    shows: str | None = None


def chosen(branches: tuple[Block, ...], *, implied: bool = False) -> Choice:
    """Return the choice of any row of any branch; a branch that asks for one choice alone is that choice."""
    if len(branches) == 1:
        (branch,) = branches
        if branch == Block(choices=branch.choices) and len(branch.choices) == 1:
            return replace(branch.choices[0], implied=implied)
    return Choice(branches, implied=implied)


def branches_of(choice: Choice) -> tuple[Block, ...]:
    """Return the branches of which any row makes the choice hold: what `chosen` was made of."""
    return choice.branches if choice.quorum is None else (Block(choices=(replace(choice, implied=False),)),)


def shows(choice: Choice, alias: str) -> bool:
    """Return whether a set's row is there wherever the choice holds."""
    if choice.quorum is not None:
        return choice.quorum.shows == alias
    return all(any(shows(inner, alias) for inner in branch.choices) for branch in choice.branches)


@dataclass(frozen=True, slots=True)
class SetOf:
    """A source whose rows are the distinct outputs of its branches."""

    alias: str
    branches: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Own:
    """A source that is run as it is; a row of it is there while all its owners are (theorem B1).

    `owners` are columns of it, as is the rest: `unique` are those that no two rows share, `origins` the
    table and column that a column is taken from. `uses` are the columns of other sources that it looks at,
    `facts` what holds of every row.
    """

    alias: str
    query: NativeQuery
    names: tuple[str, ...]
    types: tuple[Type, ...]
    owners: tuple[Owner, ...]
    facts: Facts
    unique: tuple[str, ...] | None = None
    origins: tuple[tuple[Scan, str] | None, ...] = ()
    uses: tuple[exp.Column, ...] = ()
    public: bool = False
    """whether all that it looks at is public"""


BlockSource = Scan | SetOf | Own


def _beside(choices: tuple[Choice, ...], absent: tuple[Block, ...]) -> tuple[Choice, ...]:
    """Return choices beside more that must be absent, which does not imply them."""
    return tuple(replace(choice, implied=False) for choice in choices) if absent else choices


@dataclass(frozen=True, slots=True)
class Measure:
    """One aggregate over the rows of its blocks; `known` are all sources the query was read with."""

    aggregate: Aggregate
    blocks: tuple[Block, ...]
    known: tuple[BlockSource, ...] = field(repr=False)

    @property
    def signed(self) -> bool:
        """Whether a row may weigh less than nothing: by its value, or because it is taken away."""
        return self.aggregate.signed or any(block.sign < 0 for block in self.blocks)

    def lookup(self) -> Lookup:
        """Return the function that says of which type a column is."""
        return type_lookup([*self.known, *sources_of(self.blocks)])


@dataclass(frozen=True, slots=True)
class Schema:
    """What a query is read against: catalogue, ownership, the unit of sums, and the text for messages."""

    catalogue: Catalogue
    ownership: Ownership
    granularity: Fraction
    text: str
    domains: Mapping[tuple[str, str], tuple[str | int | Fraction, ...]] = field(default_factory=dict)
    """the values that the policy lists for (table, column), in lower case"""

    def is_public(self, block: Block) -> bool:
        """Return whether nobody owns any row that the block looks at."""
        return all(self._is_public(source) for source in sources_of([block]) if not isinstance(source, SetOf))

    def _is_public(self, source: Scan | Own) -> bool:
        if isinstance(source, Own):
            return source.public
        return isinstance(self.ownership.of(source.table.name), PublicTable)


class Aggregate(Protocol):
    """What is asked about the rows of a measure: a frozen value (`aggregates` has them all)."""

    @property
    def word(self) -> str:
        """Its name; equal names are equal aggregates."""
        ...

    @property
    def signed(self) -> bool:
        """Whether a row may weigh less than nothing."""
        ...

    @property
    def weighed(self) -> bool:
        """Whether a row may weigh anything but 1."""
        ...

    @property
    def placed(self) -> bool:
        """Whether the answer is one of the rows' values, so that rows of different values are kept apart."""
        ...

    @property
    def whole(self) -> bool:
        """Whether its numbers are whole."""
        ...

    def rows(self, block: Block, values: Sequence[Scalar], /) -> Block:
        """Return the rows that take part, given the arguments."""
        ...

    def value(self, values: Sequence[Scalar], /) -> Scalar | None:
        """Return what each row brings, given the arguments; None if only that it is there."""
        ...

    def refuses(self, kind: Type, /) -> str | None:
        """Return why values of a type cannot be aggregated, if so."""
        ...

    def weight(self, value: Scalar | None, schema: Schema, lookup: Lookup, /) -> Scalar:
        """Return the weight of a row in whole granules, a function of its own values.

        Guarantee: at least 0 unless `signed`; NULL, 0 and what lies below drop out of the derivations. Of an
        aggregate that is `placed` it is the value of the row, and only NULL drops out.
        """
        ...

    def plain(self, value: Scalar, /) -> exp.Expr:
        """Return the aggregate in ordinary SQL, over the rows that take part."""
        ...

    def granularity(self, schema: Schema, /) -> Fraction:
        """Return what one granule is worth."""
        ...

    def words(self, schema: Schema, /) -> str:
        """Return what is asked, for people."""
        ...


# ------------------------------------------------------------------ looking around


def column(alias: str, name: str) -> exp.Column:
    """Return alias.name, quoted."""
    return exp.column(exp.to_identifier(name, quoted=True), exp.to_identifier(alias, quoted=True))


def aliases(scalars: Iterable[Scalar]) -> set[str]:
    """Return the aliases whose columns the expressions use."""
    return {part.table for scalar in scalars for part in scalar.find_all(exp.Column)}


def sources_of(blocks: Iterable[Block]) -> Iterator[BlockSource]:
    """Yield every source of the blocks, of their choices and of their sets."""
    for block in below(blocks):
        yield from block.sources


def below(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks and all blocks below them, outermost first."""
    for block in blocks:
        yield block
        for source in block.sources:
            if isinstance(source, SetOf):
                yield from below(source.branches)
        for choice in block.choices:
            yield from below(choice.branches)
        yield from below(block.absent)


def scalars_of(block: Block) -> Iterator[Scalar]:
    """Yield the expressions of a block and of its choices; sets do not see the block's columns."""
    yield from block.conditions
    for source in block.sources:
        if isinstance(source, Scan) and source.preserving is not None:
            yield source.preserving
        if isinstance(source, Own):
            yield from source.uses
    for owner in block.owners:
        yield from owner.values
    for choice in block.choices:
        for branch in choice.branches:
            yield from scalars_of(branch)
            yield from counted_by(choice.quorum, branch)
    for branch in block.absent:
        yield from scalars_of(branch)


def is_correlated(blocks: Sequence[Block]) -> bool:
    """Return whether blocks use columns of rows around them."""
    inside = {source.alias for source in sources_of(blocks)}
    return any(not aliases(written(block)) <= inside for block in below(blocks))


def counted_by(quorum: Quorum | None, branch: Block) -> Iterator[Scalar]:
    """Yield what says how much a row of a branch counts for."""
    if quorum is not None and branch.weight is not None:
        yield branch.weight
    if quorum is not None and quorum.distinct:
        yield from (output.value for output in branch.outputs)


def map_blocks(blocks: tuple[Block, ...], step: Callable[[Block], Block]) -> tuple[Block, ...]:
    """Return the blocks with `step` applied to each and to all blocks below it, innermost first."""

    def below(block: Block) -> Block:
        sources = tuple(
            replace(source, branches=map_blocks(source.branches, step))
            if isinstance(source, SetOf)
            else source
            for source in block.sources
        )
        choices = tuple(
            replace(choice, branches=map_blocks(choice.branches, step)) for choice in block.choices
        )
        absent = map_blocks(block.absent, step)
        return step(replace(block, sources=sources, choices=choices, absent=absent))

    return tuple(map(below, blocks))


def type_lookup(sources: Iterable[BlockSource]) -> Lookup:
    """Return the function that says of which type a resolved column is.

    A set's column is in one form already: that of its first branch, to which all others are brought.
    """
    known = {source.alias: source for source in sources}
    found: dict[tuple[str, str], expression.Variable] = {}

    def lookup(node: Scalar) -> expression.Variable:
        key = (node.table, node.name) if isinstance(node, exp.Column) else ("", "")
        if key not in found:
            found[key] = look(*key)
        return found[key]

    def look(alias: str, name: str) -> expression.Variable:
        source = known.get(alias)
        if isinstance(source, Scan):
            held = source.table.column(name)
            if held is not None:
                return expression.Variable(alias, held.name, stored(held.type), held.type)
        elif isinstance(source, Own):
            for known_name, kind in zip(source.names, source.types, strict=True):
                if same(known_name, name):
                    return expression.Variable(alias, known_name, kind)
        elif source is not None:
            output = source.branches[0].output(name)
            if output is not None:
                return expression.Variable(alias, output.name, type_of(output.value, lookup))
        return expression.Variable(alias, name, Opaque("unknown"))

    return lookup


def written(block: Block) -> Iterator[Scalar]:
    """Yield every expression of a block itself."""
    for source in block.sources:
        if isinstance(source, Scan) and source.preserving is not None:
            yield source.preserving
    yield from block.conditions
    yield from (output.value for output in block.outputs)
    yield from block.keys
    if block.weight is not None:
        yield block.weight
