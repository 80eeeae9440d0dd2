"""What the made forum's forty joins cost: as answers, and as plain queries with partial sums written by hand.

    python -m recuse.lab.experiments.forum_time --exponent 0.9

Processor time, and the most memory of the process until then. `--alike` makes the same users large in every
table, so that joins have up to 10^18 rows.

NOT PRIVATE: made data.
"""

from __future__ import annotations

import argparse
import re
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from recuse.engines.bare import bare
from recuse.lab.experiments.forum import POLICY, ForumQuestion, questions, write
from recuse.session.session import connect

_JOIN = re.compile(r"JOIN (\w+) ON \w+\.(owner|post) = (users|posts)\.id")
BUDGET = "\n[budget]\nepsilon = 1000\n"


def by_hand(question: ForumQuestion) -> str:
    """Return a star with partial sums written by hand; a chain as it is, since keys tie its tables.

    >>> print(by_hand(next(q for q in questions() if q.name == "10 star users posts comments, filtered")))
    SELECT SUM(posts.n * comments.n) FROM users \
JOIN (SELECT owner, COUNT(*)::HUGEINT AS n FROM posts GROUP BY ALL) AS posts ON posts.owner = users.id \
JOIN (SELECT owner, COUNT(*)::HUGEINT AS n FROM comments WHERE comments.score = 1 GROUP BY ALL) AS comments \
ON comments.owner = users.id WHERE users.reputation > 2
    """
    joins = _JOIN.findall(question.sql)
    if "chain" in question.name or len(joins) < 2:
        return question.sql
    head, _, where = question.sql.partition(" WHERE ")
    conditions = where.split(" AND ") if where else []
    for table, key, _ in joins:
        inside = [part for part in conditions if part.startswith(f"{table}.")]
        conditions = [part for part in conditions if part not in inside]
        kept = f" WHERE {' AND '.join(inside)}" if inside else ""
        sums = f"(SELECT {key}, COUNT(*)::HUGEINT AS n FROM {table}{kept} GROUP BY ALL) AS {table}"
        head = head.replace(f"JOIN {table} ON", f"JOIN {sums} ON")
    head = head.replace("COUNT(*)", f"SUM({' * '.join(f'{table}.n' for table, *_ in joins)})", 1)
    return f"{head} WHERE {' AND '.join(conditions)}" if conditions else head


def _spent(work: Callable[[], object]) -> tuple[float, object]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def _line(question: ForumQuestion, path: Path, policy: Path) -> str:
    with bare(path) as connection:
        hand, rows = _spent(lambda: connection.execute(by_hand(question)).fetchone())
    with connect(path, policy) as session:
        ours, _ = _spent(lambda: session.ask(question.sql, 1))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    joined = rows[0] if isinstance(rows, tuple) and rows[0] is not None else 0
    within = "yes" if ours <= 3 * hand + 2 and peak <= 4 else "no"
    return f"| {question.name} | {float(joined):.3g} | {hand:.2f} | {ours:.2f} | {peak:.2f} | {within} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for every join: rows, processor seconds by hand and as an answer, GB, within the bar."""
    parser = argparse.ArgumentParser(description="What the made forum's joins cost.")
    parser.add_argument("--exponent", type=float, default=0.9)
    parser.add_argument("--alike", action="store_true", help="the same users are large in every table")
    parser.add_argument("--only", default="", help="questions whose names hold this")
    given = parser.parse_args(arguments)
    with TemporaryDirectory() as folder:
        path, policy = Path(folder) / "forum.duckdb", Path(folder) / "forum.toml"
        write(path, given.exponent, alike=given.alike)
        policy.write_text(POLICY + BUDGET)
        for question in questions():
            if given.only in question.name:
                print(_line(question, path, policy), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
