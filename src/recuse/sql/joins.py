"""Joins → frames: what each kind of join adds to what FROM has read so far.

An outer join is two or three cases, each a frame: the pairs, the rows of one side without a partner, and
those of the other. A row without a partner has NULLs for the columns of the other side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.scalars.types import Opaque
from recuse.sql.answered import is_one_row
from recuse.sql.conditions import Conditions
from recuse.sql.elaborate import brought, type_of
from recuse.sql.frame import Frame
from recuse.sql.own import settled
from recuse.sql.position import refusal, span
from recuse.sql.query import Block, Choice, Scalar, Scan
from recuse.sql.refuse import refuse_join
from recuse.sql.scope import Entry, Scope
from recuse.sql.walk import below

MAX_SOURCES = 64
Items = Callable[[list[Frame], exp.Expr], list[Frame]]
"""joins every frame with every branch of one item of FROM"""
Merged = Sequence[tuple[str, Scalar, Scalar]]
"""the columns of USING: the name, and what it means on each side"""

KEPT: dict[str, tuple[bool, bool]] = {"LEFT": (True, False), "RIGHT": (False, True), "FULL": (True, True)}
"""the sides of an outer join whose rows are kept without a partner"""


def refuse_many(frames: Sequence[Frame], item: exp.Expr, text: str) -> None:
    """Refuse more branches, or more tables in one of them, than are read."""
    if len(frames) > MAX_SOURCES or max(len(frame.block.sources) for frame in frames) > MAX_SOURCES:
        place, hint = span(item, text), "ask for a part of it"
        raise refusal("too many tables in FROM", text, place, accepted=f"{MAX_SOURCES}", hint=hint)


def is_parenthesised_join(item: exp.Expr) -> bool:
    """Return whether an item of FROM is a table or a join in parentheses, which keep their names."""
    inside = item.this if isinstance(item, exp.Subquery) and not item.alias else None
    return isinstance(inside, exp.Table) or (inside is not None and is_parenthesised_join(inside))


def keeps_right(item: exp.Expr) -> bool:
    """Return whether a join keeps rows of its right side: then it is not the same after other items."""
    inside = keeps_right(item.this) if isinstance(item, exp.Subquery) else False
    joins = item.args.get("joins") or ()
    return inside or any(join.args.get("side") in ("RIGHT", "FULL") for join in joins)


def beside(frames: Sequence[Frame], others: Sequence[Frame], item: exp.Expr, text: str) -> list[Frame]:
    """Return all pairs of rows, each of a frame and of a join that was read by itself."""
    for entry in others[0].names.entries:
        if frames[0].names.entry(entry.name) is not None:
            problem = f"two tables in FROM are called {entry.name}"
            raise refusal(problem, text, span(item, text), hint="give each its own alias")
    found = []
    for frame in frames:
        for other in others:
            both = frame.joined(other.block, *other.names.entries)
            for name, value in other.names.merged:
                both = replace(both, names=both.names.merging(name, value))
            found.append(both)
    return found


@dataclass(frozen=True, slots=True)
class Joins:
    """A reader of joins; `items` reads what is joined, `conditions` what stands in ON."""

    conditions: Conditions
    items: Items

    def join(self, frames: list[Frame], join: exp.Join) -> list[Frame]:
        """Return the frames with one more join; no row is in two of them."""
        refuse_join(join, self.text)
        side, kind = join.args.get("side"), join.args.get("kind")
        if side == "LEFT" and _always_has_one(join):
            side = None
        if side in KEPT and kind not in ("SEMI", "ANTI"):
            return self._outer(frames, join, side)
        if kind == "SEMI":
            return [self._semi(frame, join) for frame in frames]
        if kind == "ANTI":
            partners = self._alone(frames, join)
            return [self._without(f, self._pairs(f, partners, join), join) for f in frames]
        return [found for frame in self.items(frames, join.this) for found in self._on(frame, join)]

    @property
    def text(self) -> str:
        """The text that is read, for messages."""
        return self.conditions.schema.text

    def _on(self, frame: Frame, join: exp.Join) -> list[Frame]:
        """Return the frame, its last item joined by USING, NATURAL or ON."""
        left = replace(frame.names, entries=frame.names.entries[:-1])
        right = replace(frame.names, entries=frame.names.entries[-1:], merged=())
        return self._tied(frame, self._common(left, right, join), join)

    def _tied(self, frame: Frame, merged: Merged, join: exp.Join) -> list[Frame]:
        """Return a frame in which ON holds and merged columns are equal; the first side's stands for both."""
        equal = [exp.EQ(this=ours.copy(), expression=theirs.copy()) for _, ours, theirs in merged]
        frame = frame.narrowed(Block(conditions=tuple(equal)))
        for name, ours, _ in merged:
            frame = replace(frame, names=frame.names.merging(name, ours))
        on = join.args.get("on")
        return [frame] if on is None else frame.cases(self.conditions.read(on, frame.scope))

    def _semi(self, frame: Frame, join: exp.Join) -> Frame:
        """Return the frame restricted to rows with a partner: SEMI JOIN is EXISTS."""
        branches = tuple(pair.block for pair in self._pairs(frame, self._alone([frame], join), join))
        own = settled(branches, frame.scope.around, self.conditions.schema, self.conditions.sources)
        if own is not None:
            return frame.narrowed(Block(conditions=(own,)))
        self._refuse_nested(branches, join)
        return frame.narrowed(Block(choices=(Choice(branches),)))

    # -------------------------------------------------------------- outer joins

    def _outer(self, frames: list[Frame], join: exp.Join, side: str) -> list[Frame]:
        """Return the pairs, and the rows of the sides that are kept without a partner."""
        partners = self._alone(frames, join)
        scan = self._public_table(partners) if side == "LEFT" else None
        if scan is not None:
            return [self._preserved(frame, partners[0], scan, join) for frame in frames]
        left_kept, right_kept = KEPT[side]
        found = [pair for f in frames for p in partners for pair in self._matched(f, p, join, side)]
        if left_kept:
            found += [self._left_alone(frame, partners, join, side) for frame in frames]
        if right_kept:
            found += [self._right_alone(frames, partner, join, side) for partner in partners]
        return found

    def _matched(self, frame: Frame, partner: Frame, join: exp.Join, side: str) -> list[Frame]:
        """Return the pairs of rows that belong together."""
        common = self._common(frame.names, partner.names, join)
        both = frame.joined(partner.block, *partner.names.entries)
        return [self._named(pair, common, side) for pair in self._tied(both, common, join)]

    def _left_alone(self, frame: Frame, partners: list[Frame], join: exp.Join, side: str) -> Frame:
        """Return the rows of a frame without a partner."""
        alone = self._without(frame, self._pairs(frame, partners, join), join)
        right = partners[0].names
        alone = alone.joined(Block(), *map(self._blank, right.entries))
        common = self._common(frame.names, right, join)
        return self._named(alone, [(n, ours, self._null(theirs)) for n, ours, theirs in common], side)

    def _right_alone(self, frames: list[Frame], partner: Frame, join: exp.Join, side: str) -> Frame:
        """Return the rows of a partner that no frame has a row for."""
        mirrored = [pair for frame in frames for pair in self._mirrored(frame, partner, join)]
        left = frames[0].names
        alone = self._without(Frame(partner.block, left), mirrored, join)
        names = replace(
            left,
            entries=(*map(self._blank, left.entries), *partner.names.entries),
            merged=tuple((name, self._null(value)) for name, value in left.merged),
        )
        common = self._common(left, partner.names, join)
        named = [(name, self._null(ours), theirs) for name, ours, theirs in common]
        return self._named(replace(alone, names=names), named, side)

    def _pairs(self, frame: Frame, partners: Sequence[Frame], join: exp.Join) -> list[Frame]:
        """Return what a row of a frame is joined with, as branches that may use the frame's columns."""
        found = []
        for partner in partners:
            inner = frame.beside(partner.block, *partner.names.entries)
            found += self._tied(inner, self._common(frame.names, partner.names, join), join)
        return found

    def _mirrored(self, frame: Frame, partner: Frame, join: exp.Join) -> list[Frame]:
        """Return what a row of the partner is joined with, as branches that may use its columns."""
        inner = Frame(partner.block, frame.names).beside(frame.block, *partner.names.entries)
        return self._tied(inner, self._common(frame.names, partner.names, join), join)

    def _without(self, frame: Frame, pairs: Iterable[Frame], join: exp.Join) -> Frame:
        """Return the rows of a frame that are joined with nothing."""
        branches = tuple(pair.block for pair in pairs)
        exists = settled(branches, frame.scope.around, self.conditions.schema, self.conditions.sources)
        if exists is not None:
            return frame.narrowed(Block(conditions=(exp.Not(this=exp.paren(exists)),)))
        self._refuse_nested(branches, join)
        return frame.narrowed(Block(absent=branches))

    def _named(self, frame: Frame, merged: Merged, side: str) -> Frame:
        """Return the frame in which USING's columns mean the kept side's; if both are, the first not NULL."""
        for name, ours, theirs in merged:
            value = ours if side == "LEFT" else theirs
            if side == "FULL":
                value = exp.Coalesce(this=ours.copy(), expressions=[theirs.copy()])
            frame = replace(frame, names=frame.names.merging(name, value))
        return frame

    def _blank(self, entry: Entry) -> Entry:
        return replace(entry, columns=tuple((name, self._null(value)) for name, value in entry.columns))

    def _null(self, value: Scalar) -> Scalar:
        """Return NULL in the type of a value."""
        lookup = self.conditions.lookup()
        kind = type_of(value, lookup)
        return exp.Null() if isinstance(kind, Opaque) else brought(exp.Null(), kind, lookup)

    def _preserved(self, frame: Frame, partner: Frame, scan: Scan, join: exp.Join) -> Frame:
        """Return the frame with a public table on the right, whose rows nobody can withdraw."""
        bare = frame.beside(Block(), *partner.names.entries)
        common = self._common(frame.names, partner.names, join)
        on = [*partner.block.conditions]
        on += [exp.EQ(this=ours.copy(), expression=theirs.copy()) for _, ours, theirs in common]
        if join.args.get("on") is not None:
            on.append(self.conditions.value(join.args["on"], bare.scope))
        preserving = exp.and_(*on, copy=False) if on else exp.true()
        kept = replace(scan, preserving=preserving)
        block = replace(frame.block, sources=(*frame.block.sources, kept))
        names = replace(frame.names, entries=bare.names.entries)
        return self._named(Frame(block, names), common, "LEFT")

    def _alone(self, frames: Sequence[Frame], join: exp.Join) -> list[Frame]:
        """Return what is joined, by itself."""
        partners = self.items([Frame(Block(), Scope(self.text))], join.this)
        for entry in partners[0].names.entries:
            if frames[0].names.entry(entry.name) is not None:
                hint = "give each its own alias"
                raise self._refuse(f"two tables in FROM are called {entry.name}", join.this, hint)
        return partners

    def _public_table(self, partners: list[Frame]) -> Scan | None:
        """Return the public table that the partners are, if they are one, all columns as they are stored.

        A computed column would have to become NULL in rows without a partner.
        """
        if len(partners) != 1 or len(partners[0].block.sources) != 1 or partners[0].block.choices:
            return None
        (scan,) = partners[0].block.sources
        stored = all(isinstance(v, exp.Column) for e in partners[0].names.entries for _, v in e.columns)
        public = self.conditions.schema.is_public(partners[0].block)
        return scan if isinstance(scan, Scan) and stored and public else None

    # -------------------------------------------------------------- USING and NATURAL

    def _common(self, left: Scope, right: Scope, join: exp.Join) -> Merged:
        """Return the columns that USING names or NATURAL finds, and what each means on both sides."""
        found = []
        for name in left.shared_names(right, join):
            ours, theirs = left.alone(name), right.alone(name)
            if len(ours) != 1 or len(theirs) != 1:
                problem = f"column {name} does not stand exactly once on each side of the join"
                raise self._refuse(problem, join, "write JOIN … ON a.x = b.x")
            found.append((name, ours[0][1], theirs[0][1]))
        return found

    def _refuse_nested(self, branches: Iterable[Block], join: exp.Join) -> None:
        if any(block.absent for block in below(branches)):
            problem = "which rows lack a partner would depend on which others do"
            raise self._refuse(problem, join, "write the tables whose rows are kept first, then LEFT JOIN")

    def _refuse(self, problem: str, node: exp.Expr, hint: str) -> QueryError:
        return refusal(problem, self.text, span(node, self.text), hint=hint)


def _always_has_one(join: exp.Join) -> bool:
    """Return whether a join finds exactly one partner for every row: LATERAL (SELECT MAX(x) …) ON TRUE."""
    on = join.args.get("on")
    always = isinstance(on, exp.Boolean) and bool(on.this)
    return always and isinstance(join.this, exp.Lateral) and is_one_row(join.this.this)
