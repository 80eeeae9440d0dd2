"""The made forum's join counts as relations: rows are counted by owner set, and a join is never listed.

Stars around users, and of posts with links, have one owner a row: a product of counts. Posts with comments or
votes, and chains through them, have two: whose the post is, and whose the comment or vote. The four joins of
posts with comments and votes have three, and are left out: their owner sets are tens of millions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.build import from_owners
from recuse.krelation.relation import Floats, Integers, KRelation
from recuse.lab.experiments.forum import EXPONENTS, FACTS, Columns, forum

STARS = (
    *((fact,) for fact in FACTS),
    ("posts", "comments"),
    ("posts", "badges"),
    ("comments", "badges"),
    ("votes", "badges"),
    ("posts", "comments", "badges"),
    ("posts", "votes", "badges"),
    FACTS,
)

KEPT = {
    "users": ("reputation", 3, 50),
    "posts": ("score", 2, 40),
    "comments": ("score", 1, 1),
    "votes": ("kind", 2, 2),
    "badges": ("class_", 1, 1),
    "links": ("kind", 1, 1),
}
"""what `forum.FILTERS` says: a column, and between which values it lies"""


@dataclass(frozen=True, slots=True)
class Forum:
    """A forum, and which of its rows the filters of `forum.FILTERS` keep."""

    exponent: float
    tables: dict[str, Columns]

    def kept(self, name: str) -> NDArray[np.bool_]:
        """Return which rows of a table its filter keeps."""
        column, least, most = KEPT[name]
        values = self.tables[name][column]
        found: NDArray[np.bool_] = (values >= least) & (values <= most)
        return found

    def owned(self, name: str, *, filtered: bool = False) -> Floats:
        """Return how many rows of a table every user owns."""
        owners = self.tables[name]["owner"]
        chosen = owners[self.kept(name)] if filtered else owners
        return np.bincount(chosen, minlength=len(self.tables["users"]["id"])).astype(np.float64)

    def linked(self, *, filtered: bool = False) -> Integers:
        """Return how many links every post has."""
        table = self.tables["links"]
        chosen = table["post"][self.kept("links")] if filtered else table["post"]
        return np.bincount(chosen, minlength=len(self.tables["posts"]["id"]))

    def loads(self) -> Iterator[tuple[str, Floats]]:
        """Yield the loads of the joins whose rows have one owner."""
        for star in STARS:
            *others, last = star
            each = [self.owned(fact) for fact in others]
            yield f"star users {' '.join(star)}", np.prod([*each, self.owned(last)], axis=0)
            some = [*each, self.owned(last, filtered=True), self.kept("users").astype(np.float64)]
            yield f"star users {' '.join(star)}, filtered", np.prod(some, axis=0)
        posts = self.tables["posts"]["owner"]
        users = len(self.tables["users"]["id"])
        yield "star posts links", np.bincount(posts, self.linked(), users).astype(np.float64)
        kept = self.linked(filtered=True) * self.kept("posts")
        yield "star posts links, filtered", np.bincount(posts, kept, users).astype(np.float64)

    def pairs(self) -> Iterator[tuple[str, KRelation]]:
        """Yield the joins whose rows have two owners."""
        everything = np.ones(len(self.tables["posts"]["id"]), np.int64)
        authors = self.kept("users")[self.tables["posts"]["owner"]]
        for about in ("comments", "votes"):
            every = np.ones(len(self.tables[about]["id"]), bool)
            some, posts = self.kept(about), self.kept("posts")
            yield f"star posts {about}", self._pairs(about, every, everything)
            yield f"star posts {about}, filtered", self._pairs(about, some, everything * posts)
            yield f"star posts {about} links", self._pairs(about, every, self.linked())
            yield (
                f"star posts {about} links, filtered",
                self._pairs(about, every, self.linked(filtered=True) * posts),
            )
            yield f"chain users posts {about}", self._pairs(about, every, everything)
            yield f"chain users posts {about}, filtered", self._pairs(about, some, everything * authors)

    def _pairs(self, about: str, chosen: NDArray[np.bool_], weights: Integers) -> KRelation:
        table = self.tables[about]
        posts = table["post"]
        kept = chosen & (weights[posts] > 0)
        owners = np.stack((self.tables["posts"]["owner"][posts[kept]], table["owner"][kept]), axis=1)
        users = len(self.tables["users"]["id"])
        return from_owners(weights[posts[kept]], owners, participants=users, signed=False)


def forums() -> Iterator[Forum]:
    """Yield the forums of all exponents."""
    for exponent in EXPONENTS:
        yield Forum(exponent, forum(exponent))
