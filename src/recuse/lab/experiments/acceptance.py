"""Which questions of a set are accepted, and for which reasons the others are not. NOT PRIVATE, and no data.

    python -m recuse.lab.experiments.acceptance FOLDER … [--policy NAME] [--delta 1e-6] [--each]

A folder holds `schema.sql`, `policy.toml` and `queries.sql`, in which every question begins with a line
`-- NAME`; or it holds such folders, whose questions are then counted together. Texts that DuckDB itself
does not understand are left out, and so are, from the second count on, those that list rows.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from pathlib import Path

import sqlglot
from sqlglot import exp

from recuse.engines.bare import Bare, BareError, bare
from recuse.engines.binding import check_plan
from recuse.engines.duckdb import DuckDB
from recuse.errors import QueryError
from recuse.policy import Policy
from recuse.privacy import Delta
from recuse.sql.catalogue import Catalogue
from recuse.sql.compile import compile_query

ASKED = datetime(2026, 11, 17)
UNKNOWN_AGGREGATE = "this aggregate is not answered"


CALLED = re.compile(r"\w+")


TITLE = re.compile(r"^-- *(\S+)[^\n]*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A question of a set, and what becomes of it."""

    where: str
    """the set, and its place there"""
    name: str
    text: str
    form: Form
    refusal: QueryError | None
    """why it is refused; None if it is not"""
    seconds: float

    @property
    def reason(self) -> str:
        """The reason as it is counted: names of tables, columns and places left out."""
        if self.refusal is None:
            return ""
        problem = self.refusal.problem
        if problem == UNKNOWN_AGGREGATE and (called := CALLED.match(self.refusal.found or "")):
            problem = f"{problem}: {called[0].upper()}"
        return re.sub(r"\b[\w.]*[_.\d]\w*\b|\"[^\"]*\"", "…", problem)


class Form(Enum):
    """What a question asks for."""

    FOREIGN = "not of this engine"
    """DuckDB does not understand it"""
    ROWS = "lists rows"
    AGGREGATE = "aggregates"


def verdicts(folder: Path, policy_name: str = "policy.toml", delta: Delta | None = None) -> Iterator[Verdict]:
    """Yield the verdict on every question of a folder, or of the folders in it.

    A `delta` is granted besides, so that keys may be found that nobody listed.
    """
    if not (folder / "schema.sql").is_file():
        for inner in sorted(path.parent for path in folder.glob("*/schema.sql")):
            yield from verdicts(inner, policy_name, delta)
        return
    policy = Policy.parse((folder / policy_name).read_text())
    policy = policy if delta is None else replace(policy, delta=delta)
    with closing(bare()) as made:
        made.execute((folder / "schema.sql").read_text())
        engine = DuckDB.open(made)
        catalogue = engine.catalogue()
        for name, text in questions((folder / "queries.sql").read_text()):
            form = form_of(text, made)
            began = time.process_time()
            refusal = None if form is Form.FOREIGN else refusal_of(text, policy, catalogue, engine)
            yield Verdict(folder.name, name, text, form, refusal, time.process_time() - began)
        engine.close()


def questions(text: str) -> Iterator[tuple[str, str]]:
    """Yield the questions of a file with their names."""
    parts = TITLE.split(text)[1:]
    yield from zip(parts[::2], (part.strip() for part in parts[1::2]), strict=True)


def refusal_of(text: str, policy: Policy, catalogue: Catalogue, engine: DuckDB) -> QueryError | None:
    """Return why a question is refused; None if it is answered."""
    try:
        check_plan(compile_query(text, policy, catalogue, ASKED), engine)
    except QueryError as error:
        return error
    return None


def form_of(text: str, made: Bare) -> Form:
    """Return what a text asks for: its outermost SELECT aggregates, or lists rows."""
    try:
        made.execute(f"EXPLAIN {text}")
        tree = sqlglot.parse_one(text, read="duckdb")
    except (BareError, sqlglot.errors.SqlglotError):
        return Form.FOREIGN
    return Form.AGGREGATE if _aggregates(tree) else Form.ROWS


def _aggregates(tree: exp.Expr) -> bool:
    """Whether every row of the result is worked out from many: at the top, or in what it selects from."""
    if isinstance(tree, exp.Subquery):
        return _aggregates(tree.this)
    if isinstance(tree, exp.SetOperation):
        return _aggregates(tree.this) and _aggregates(tree.expression)
    if not isinstance(tree, exp.Select):
        return False
    if tree.args.get("group") is not None:
        return any(_has_aggregate(value) for value in tree.expressions)
    if any(_has_aggregate(value) for value in tree.expressions):
        return True
    named = {cte.alias: cte.this for cte in tree.ctes}
    found = tree.args.get("from_") or tree.args.get("from")
    sources = [] if found is None else [found.this, *(join.this for join in tree.args.get("joins") or ())]
    below = [named.get(source.name, source) for source in sources]
    queries = [source for source in below if isinstance(source, exp.Subquery | exp.Query)]
    if not sources:
        inside = [found.this for value in tree.expressions for found in _subqueries(value)]
        return bool(inside) and all(map(_aggregates, inside))
    return len(queries) == len(sources) and all(map(_aggregates, queries))


def _subqueries(value: exp.Expr) -> Iterator[exp.Subquery]:
    """Yield the subqueries that stand in an expression, and none inside of these."""
    for node in value.walk(prune=lambda part: isinstance(part, exp.Subquery)):
        if isinstance(node, exp.Subquery):
            yield node


def _has_aggregate(value: exp.Expr) -> bool:
    """Whether an aggregate of the SELECT itself stands in the expression: no window, no subquery's."""
    if isinstance(value, exp.Query | exp.Subquery):
        return False
    if isinstance(value, exp.Window):
        return any(_has_aggregate(part) for part in value.this.iter_expressions())
    return isinstance(value, exp.AggFunc) or any(map(_has_aggregate, value.iter_expressions()))


# ------------------------------------------------------------------ what is printed


def table(found: Sequence[tuple[str, Sequence[Verdict]]]) -> Iterator[str]:
    """Yield the counts of every set as a table."""
    yield "| set | questions | of this engine | accepted | that aggregate | accepted | |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for name, every in found:
        known = [verdict for verdict in every if verdict.form is not Form.FOREIGN]
        asked = [verdict for verdict in known if verdict.form is Form.AGGREGATE]
        accepted = sum(verdict.refusal is None for verdict in asked)
        share = f"{100 * accepted / len(asked):.0f} %" if asked else ""
        yield (
            f"| {name} | {len(every)} | {len(known)} | {sum(v.refusal is None for v in known)} "
            f"| {len(asked)} | {accepted} | {share} |"
        )


def reasons(every: Sequence[Verdict]) -> Iterator[str]:
    """Yield why questions that aggregate are refused, the most frequent reason first."""
    refused = [v for v in every if v.form is Form.AGGREGATE and v.refusal is not None]
    yield "| refused because | questions | for example |"
    yield "|---|---:|---|"
    for reason, count in Counter(verdict.reason for verdict in refused).most_common():
        first = next(verdict for verdict in refused if verdict.reason == reason)
        yield f"| {reason} | {count} | {first.where} {first.name} |"


def main() -> None:
    """Print the table for the folders that are named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--policy", default="policy.toml", help="the file in each folder")
    parser.add_argument("--each", action="store_true", help="print every refused question that aggregates")
    parser.add_argument("--slow", type=float, default=0.5, help="name questions that take longer to compile")
    parser.add_argument("--delta", type=Delta.of, help="grant it, for keys that no list gives")
    options = parser.parse_args()
    found = [
        (folder.name, list(verdicts(folder, options.policy, options.delta))) for folder in options.folders
    ]
    every = [verdict for _, group in found for verdict in group]
    print(*table(found), "", *reasons(every), sep="\n")
    for verdict in every:
        if verdict.seconds > options.slow:
            print(f"{verdict.where} {verdict.name} took {verdict.seconds:.2f} s of processor time")
        if options.each and verdict.form is Form.AGGREGATE and verdict.refusal is not None:
            print(f"\n{verdict.where} {verdict.name}: {verdict.refusal}\n{verdict.text}")


if __name__ == "__main__":
    main()
