"""Joins → frames: what FROM has read so far, and what each kind of join adds to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import fold
from recuse.sql.conditions import Conditions, conjuncts, is_subquery
from recuse.sql.position import refusal, span
from recuse.sql.query import Block, Choice, Scalar, Scan
from recuse.sql.refuse import OUTER, refuse_join
from recuse.sql.scope import Entry, Scope


@dataclass(frozen=True, slots=True)
class Frame:
    """FROM as far as it has been read: a block, and what names mean in it."""

    block: Block
    names: Scope

    @property
    def scope(self) -> Scope:
        """What names mean, to whoever has to know the rows too."""
        return replace(self.names, rows=self.block)

    def joined(self, block: Block, entry: Entry) -> Frame:
        """Return the frame with the rows of one more item: all pairs."""
        both = replace(
            self.block,
            sources=self.block.sources + block.sources,
            conditions=self.block.conditions + block.conditions,
            choices=self.block.choices + block.choices,
            says=self.block.says + block.says,
        )
        return Frame(both, self.names.adding(entry))

    def where(self, conditions: Iterable[Scalar], choices: Iterable[Choice] = ()) -> Frame:
        """Return the frame with more conditions."""
        return replace(self, block=self.block.narrowed(conditions, choices))


Items = Callable[[list[Frame], exp.Expr], list[Frame]]
"""joins every frame with every branch of one item of FROM"""


@dataclass(frozen=True, slots=True)
class Joins:
    """A reader of joins; `items` reads what is joined, `conditions` what stands in ON."""

    conditions: Conditions
    items: Items

    def join(self, frames: list[Frame], join: exp.Join) -> list[Frame]:
        """Return the frames with one more join; there is one for every combination of UNION ALL branches."""
        refuse_join(join, self.text)
        if join.args.get("side") == "LEFT":
            return [self._left(frame, join) for frame in frames]
        if join.args.get("kind") == "SEMI":
            return [self._semi(frame, join) for frame in frames]
        return [self._on(frame, join) for frame in self.items(frames, join.this)]

    @property
    def text(self) -> str:
        """The text that is read, for messages."""
        return self.conditions.schema.text

    def _on(self, frame: Frame, join: exp.Join) -> Frame:
        """Return the frame, its last item joined by USING, NATURAL or ON."""
        frame = self._merged(frame, join)
        on = join.args.get("on")
        return frame if on is None else self.narrowed(frame, on)

    def narrowed(self, frame: Frame, test: exp.Expr) -> Frame:
        """Return the frame for which a test holds: conjuncts without subqueries first.

        What they say of the rows is known then when it is asked whom a subquery belongs to.
        """
        parts = conjuncts(test)
        for part in sorted(parts, key=lambda part: any(map(is_subquery, part.walk()))):
            frame = frame.where(*self.conditions.read(part, frame.scope))
        return frame

    def _semi(self, frame: Frame, join: exp.Join) -> Frame:
        """Return the frame restricted to rows with a partner: SEMI JOIN is EXISTS."""
        branches = []
        for partner in self._alone(join):
            entries = (*frame.scope.entries, *partner.scope.entries)
            both = Frame(partner.block, replace(frame.scope, entries=entries))
            branches.append(self._on(both, join).block)
        return frame.where(*self.conditions.exists(branches, frame.scope))

    def _left(self, frame: Frame, join: exp.Join) -> Frame:
        """Return the frame with a public table on the right, whose rows nobody can withdraw."""
        partners = self._alone(join)
        scan = self._public_table(partners)
        if scan is None:
            hint = "only a public table may stand to the right of LEFT JOIN; write JOIN … ON …"
            raise self._refuse(OUTER, join, hint)
        (partner,) = partners
        (entry,) = partner.scope.entries
        if frame.scope.entry(entry.name) is not None:
            hint = "give each its own alias"
            raise self._refuse(f"two tables in FROM are called {entry.name}", join.this, hint)
        bare = Frame(Block(), frame.scope.adding(entry))
        merged = self._merged(bare, join)
        on = [*partner.block.conditions, *merged.block.conditions]
        if join.args.get("on") is not None:
            on.append(self.conditions.value(join.args["on"], bare.scope))
        preserving = exp.and_(*on, copy=False) if on else exp.true()
        kept = replace(scan, preserving=preserving)
        return Frame(replace(frame.block, sources=(*frame.block.sources, kept)), merged.scope)

    def _alone(self, join: exp.Join) -> list[Frame]:
        """Return what is joined, by itself."""
        return self.items([Frame(Block(), Scope(self.text))], join.this)

    def _public_table(self, partners: list[Frame]) -> Scan | None:
        """Return the public table that the partners are, if they are one, all columns as they are stored.

        A computed column would have to become NULL in rows without a partner.
        """
        if len(partners) != 1 or len(partners[0].block.sources) != 1 or partners[0].block.choices:
            return None
        (scan,) = partners[0].block.sources
        stored = all(isinstance(v, exp.Column) for e in partners[0].scope.entries for _, v in e.columns)
        public = self.conditions.schema.is_public(partners[0].block)
        return scan if isinstance(scan, Scan) and stored and public else None

    def _merged(self, frame: Frame, join: exp.Join) -> Frame:
        """Return the frame in which both sides agree on the common columns, each of which has one meaning."""
        left = replace(frame.scope, entries=frame.scope.entries[:-1])
        for name in self._common(frame.scope, join):
            ours, theirs = left.alone(name), frame.scope.entries[-1].column(name)
            if len(ours) != 1 or theirs is None:
                problem = f"column {name} does not stand exactly once on each side of the join"
                raise self._refuse(problem, join, "write JOIN … ON a.x = b.x")
            mine = ours[0][1]
            equal = exp.EQ(this=mine.copy(), expression=theirs.copy())
            frame = Frame(frame.block.narrowed([equal]), frame.scope.merging(name, mine))
        return frame

    def _common(self, scope: Scope, join: exp.Join) -> list[str]:
        """Return the columns that USING names or NATURAL finds."""
        if join.args.get("using"):
            return [node.name for node in join.args["using"]]
        if join.args.get("method") != "NATURAL":
            return []
        before = {fold(name) for name in replace(scope, entries=scope.entries[:-1]).names()}
        names = [name for name, _ in scope.entries[-1].columns if fold(name) in before]
        if not names:
            hint = "write CROSS JOIN, or JOIN … ON"
            raise self._refuse("NATURAL JOIN finds no column that both sides have", join, hint)
        return names

    def _refuse(self, problem: str, node: exp.Expr, hint: str) -> QueryError:
        return refusal(problem, self.text, span(node, self.text), hint=hint)
