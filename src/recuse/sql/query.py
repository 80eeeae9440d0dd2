"""The query as it was understood: blocks of sources, conditions and choices, and what passes add to them.

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

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from recuse.fold import same
from recuse.scalars.types import Type
from recuse.sql.catalogue import Table

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
    null_keys: frozenset[int] = frozenset()
    """the keys, by their place, of which NULL is a group"""
    weight: Scalar | None = None
    completed: tuple[str, ...] = ()
    absent: tuple[Block, ...] = ()
    sign: int = 1
    says: tuple[str, ...] = ()
    """how its rows depend on others, a sentence each, for people: what is own, signed or a threshold"""

    def narrowed(self, conditions: Iterable[Scalar], choices: Iterable[Choice] = ()) -> Block:
        """Return the rows for which more conditions hold."""
        return replace(self, conditions=(*self.conditions, *conditions), choices=(*self.choices, *choices))

    def known(self, values: Iterable[Scalar]) -> Block:
        """Return the rows in which none of some values is NULL."""
        return self.narrowed(
            exp.Not(this=exp.Is(this=exp.paren(value), expression=exp.Null())) for value in values
        )

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

    `least` may be rows of public tables, which depend on nothing around: as many as these are distinct.
    A row counts for the `weight` of its block, a whole number from 0, and for 1 without; `distinct` rows,
    those of equal outputs, count once. `shows` is the set whose row is there whenever so much is.
    """

    least: int | Block
    distinct: bool = False
    shows: str | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """A column of a block's rows."""

    name: str
    """as whoever reads the rows knows it"""
    value: Scalar


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
    """A source whose rows are the distinct outputs of its branches.

    A row is there while any row of any branch is that shows the same.
    """

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
    proved: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """the tables and their unique keys that prove whose its rows are"""


@dataclass(frozen=True, slots=True)
class Owner:
    """A participant that every row of a block belongs to."""

    kind: str
    values: tuple[Scalar, ...]
    """what names it among those of its kind: the columns of its key"""


BlockSource = Scan | SetOf | Own


def _beside(choices: tuple[Choice, ...], absent: tuple[Block, ...]) -> tuple[Choice, ...]:
    """Return choices beside more that must be absent, which does not imply them."""
    return tuple(replace(choice, implied=False) for choice in choices) if absent else choices


def column(alias: str, name: str) -> exp.Column:
    """Return alias.name, quoted."""
    return exp.Column(
        this=exp.Identifier(this=name, quoted=True), table=exp.Identifier(this=alias, quoted=True)
    )
