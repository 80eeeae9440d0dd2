"""A made forum: users, posts, comments, votes, badges and links, and forty join counts over them.

Owners are drawn with probability in proportion to rank^-a, and so are the posts that comments, votes and
links point at: the larger a, the more of everything a handful of users hold. One seed makes one forum.

    python -m recuse.lab.experiments.forum --exponent 0.9 forum.duckdb

NOT PRIVATE: made data.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recuse.engines.bare import bare, fill
from recuse.krelation.relation import Integers

SEED = 20
EXPONENTS = (0.6, 0.9, 1.2)
SIZES: Mapping[str, int] = {
    "users": 40_000,
    "posts": 90_000,
    "comments": 175_000,
    "votes": 350_000,
    "badges": 80_000,
    "links": 11_000,
}
LINKS: Mapping[str, tuple[str, str]] = {
    "posts": ("owner", "users"),
    "comments": ("owner", "users"),
    "votes": ("owner", "users"),
    "badges": ("owner", "users"),
    "links": ("post", "posts"),
}
"""whose rows a table's rows are: by which column, and in which table"""
POLICY = '[[protect]]\ntable = "users"\nkey = ["id"]\n' + "".join(
    f'[[link]]\ntable = "{table}"\ncolumn = ["{column}"]\nto = "{to}"\n'
    for table, (column, to) in LINKS.items()
)


@dataclass(frozen=True, slots=True)
class ForumQuestion:
    """A join count: its name, and its SQL."""

    name: str
    sql: str


Columns = dict[str, Integers]


def forum(
    exponent: float, seed: int = SEED, share: float = 1.0, *, alike: bool = False
) -> dict[str, Columns]:
    """Return the tables of a forum; `share` makes all of them smaller alike.

    Who is large in one table need not be in another, unless they are `alike`.
    """
    random = np.random.default_rng([seed, round(10 * exponent)])
    sizes = {name: max(1, round(size * share)) for name, size in SIZES.items()}
    ids = {name: np.arange(size) for name, size in sizes.items()}

    def drawn(of: str, count: int) -> Integers:
        chances = (1.0 + ids[of]) ** -exponent
        ranks = random.choice(sizes[of], count, p=chances / chances.sum())
        found: Integers = ranks if alike else random.permutation(sizes[of])[ranks]
        return found

    def owned(name: str, **columns: Integers) -> Columns:
        return {"id": ids[name], "owner": drawn("users", sizes[name]), **columns}

    def small(name: str, most: int) -> Integers:
        return np.asarray(random.geometric(0.3, sizes[name]).clip(1, most), np.int64)

    return {
        "users": {"id": ids["users"], "reputation": small("users", 50), "year": small("users", 12)},
        "posts": owned("posts", score=small("posts", 40), kind=small("posts", 6)),
        "comments": owned("comments", post=drawn("posts", sizes["comments"]), score=small("comments", 20)),
        "votes": owned("votes", post=drawn("posts", sizes["votes"]), kind=small("votes", 8)),
        "badges": owned("badges", class_=small("badges", 3)),
        "links": {
            "id": ids["links"],
            "post": drawn("posts", sizes["links"]),
            "related": drawn("posts", sizes["links"]),
            "kind": small("links", 3),
        },
    }


FACTS = ("posts", "comments", "votes", "badges")
FILTERS: Mapping[str, str] = {
    "users": "users.reputation > 2",
    "posts": "posts.score > 1",
    "comments": "comments.score = 1",
    "votes": "votes.kind = 2",
    "badges": "badges.class_ = 1",
    "links": "links.kind = 1",
}


def questions() -> tuple[ForumQuestion, ...]:
    """Return the forty join counts: stars around users and posts, and chains, with and without filters."""
    return tuple(ForumQuestion(f"{place:02d} {name}", sql) for place, (name, sql) in enumerate(_counts(), 1))


def _counts() -> Iterator[tuple[str, str]]:
    stars = [
        *(("users", (fact,)) for fact in FACTS),
        ("users", ("posts", "comments")),
        ("users", ("posts", "badges")),
        ("users", ("comments", "badges")),
        ("users", ("votes", "badges")),
        ("users", ("posts", "comments", "badges")),
        ("users", ("posts", "votes", "badges")),
        ("users", ("posts", "comments", "votes", "badges")),
        ("posts", ("comments",)),
        ("posts", ("votes",)),
        ("posts", ("links",)),
        ("posts", ("comments", "votes")),
        ("posts", ("comments", "links")),
        ("posts", ("votes", "links")),
        ("posts", ("comments", "votes", "links")),
    ]
    for center, around in stars:
        key = "owner" if center == "users" else "post"
        joins = [f"JOIN {table} ON {table}.{key} = {center}.id" for table in around]
        yield from _both(f"star {center} {' '.join(around)}", center, joins, around[-1])
    for last in ("comments", "votes"):
        joins = ["JOIN posts ON posts.owner = users.id", f"JOIN {last} ON {last}.post = posts.id"]
        yield from _both(f"chain users posts {last}", "users", joins, last)


def _both(name: str, center: str, joins: Sequence[str], last: str) -> Iterator[tuple[str, str]]:
    """Yield a join as it is, and with filters on its first and last table."""
    plain = f"SELECT COUNT(*) FROM {center} {' '.join(joins)}"
    yield name, plain
    yield f"{name}, filtered", f"{plain} WHERE {FILTERS[center]} AND {FILTERS[last]}"


def write(path: Path, exponent: float, seed: int = SEED, share: float = 1.0, *, alike: bool = False) -> None:
    """Write a forum as a database: keys are enforced, so that a link's target is one row."""
    with bare(path) as connection:
        for name, table in forum(exponent, seed, share, alike=alike).items():
            columns = ", ".join(f"{column} BIGINT{' PRIMARY KEY' * (column == 'id')}" for column in table)
            connection.execute(f"CREATE TABLE {name} ({columns})")
            fill(connection, f"INSERT INTO {name} SELECT * FROM made", table)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write a forum, its policy and its questions."""
    parser = argparse.ArgumentParser(description="A made forum: a database, a policy and forty join counts.")
    parser.add_argument("database", type=Path)
    parser.add_argument("--exponent", type=float, default=0.9, help="of the ranks: 0.6, 0.9 or 1.2")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--share", type=float, default=1.0, help="all tables so many times smaller")
    given = parser.parse_args(arguments)
    write(given.database, given.exponent, given.seed, given.share)
    given.database.with_suffix(".toml").write_text(POLICY)
    given.database.with_suffix(".sql").write_text(
        "".join(f"-- {question.name}\n{question.sql};\n" for question in questions())
    )


if __name__ == "__main__":
    main()
