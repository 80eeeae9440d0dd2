"""What is refused whatever it is about: clauses, table functions, kinds of joins; why, and what to write."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import fold
from recuse.sql.answered import is_one_row
from recuse.sql.ownership import Linked, ProtectedTable
from recuse.sql.position import clause_span, refusal, span
from recuse.sql.query import Block, Scalar, Scan
from recuse.sql.schema import Schema

# clause in sqlglot's tree: how it is written, why it is refused, what to write instead
CLAUSES: dict[str, tuple[str, str, str | None]] = {
    "having": ("HAVING", "HAVING compares aggregates of private rows", "move the condition to WHERE"),
    "limit": ("LIMIT", "which rows LIMIT keeps depends on all the others", "leave LIMIT out"),
    "offset": ("OFFSET", "which rows OFFSET skips depends on all the others", "leave OFFSET out"),
    "qualify": ("QUALIFY", "a window function looks at other rows", "leave QUALIFY out"),
    "windows": ("WINDOW", "a window function looks at other rows", "leave WINDOW out"),
    "sample": ("SAMPLE", "a sample depends on chance", "leave the sample out"),
    "pivots": ("PIVOT", "PIVOT is not answered", "ask one question for each column"),
    "into": ("INTO", "SELECT INTO writes a table", "leave INTO out"),
    "locks": ("FOR", "FOR UPDATE locks rows", "leave it out"),
    "laterals": ("LATERAL", "LATERAL is not answered", "write a join"),
    "by_name": ("BY NAME", "BY NAME is not accepted", "list the columns in the same order"),
}
READ = frozenset({"expressions", "from_", "joins", "where", "with_"})

EXCEPT = ("EXCEPT drops rows when others appear", "ask for both parts and subtract the answers")
MAX_OUTER = 4
JOIN_PARTS = frozenset({"this", "on", "using", "kind", "side", "method"})


def refuse_clauses(tree: exp.Expr, text: str, accepted: Collection[str]) -> None:
    """Refuse the first clause that is not accepted."""
    for key, value in tree.args.items():
        if not value or key in accepted:
            continue
        node = value[0] if isinstance(value, list) else value
        keyword, problem, hint = CLAUSES.get(
            key, (key.strip("_").upper(), f"this clause is not accepted: {key}", None)
        )
        if not isinstance(node, exp.Expr):  # a mere flag, such as BY NAME
            node = tree.args.get("expression") or tree
        place = clause_span(node, keyword, text)
        raise refusal(problem, text, place, hint=hint)


def lists_keys(group: exp.Group) -> bool:
    """Return whether GROUP BY is a list of keys: no ROLLUP, CUBE or GROUPING SETS."""
    if {key for key, value in group.args.items() if value} != {"expressions"}:
        return False
    return not any(isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets) for node in group.expressions)


def always_holds(test: exp.Expr) -> bool:
    """Return whether a HAVING is COUNT(*) >= 1, which every group of SQL satisfies."""
    match test.unnest():
        case exp.GTE(this=exp.Count(this=exp.Star()), expression=exp.Literal(this="1")):
            return True
        case exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal(this="0")):
            return True
    return False


def refuse_having(having: exp.Having, text: str) -> None:
    """Refuse any HAVING in a subquery but one that always holds."""
    if not always_holds(having.this):
        keyword, problem, hint = CLAUSES["having"]
        place = clause_span(having, keyword, text)
        raise refusal(problem, text, place, accepted="COUNT(*) >= 1", hint=hint)


TOLD = "how many there are, sums and averages, in groups if you like"


def refuse_individuals(tree: exp.Select, text: str) -> QueryError:
    """Return the refusal of a SELECT without aggregate, and the same as a question that is answered."""
    counted = tree.copy()
    for key in ("distinct", "order", "limit", "offset"):
        counted.set(key, None)
    star: exp.Expr = exp.Count(this=exp.Star(), big_int=True)
    if tree.args.get("group") is not None:
        star = exp.alias_(star, "n")
        place = span(tree.expressions[0], text)
        counted.set("expressions", [*(node.copy() for node in tree.expressions), star])
        hint = counted.sql(dialect="duckdb", comments=False)
        return refusal("which groups have rows is not told", text, place, accepted=TOLD, hint=hint)
    if tree.args.get("distinct") is not None and len(tree.expressions) == 1 and not tree.is_star:
        star = exp.Count(this=exp.Distinct(expressions=[tree.expressions[0].unalias().copy()]), big_int=True)
    counted.set("expressions", [star])
    place = span(tree.expressions[0], text) if tree.expressions else None
    return refusal(
        "this would list individuals: nothing is aggregated",
        text,
        place,
        accepted=TOLD,
        hint=counted.sql(dialect="duckdb", comments=False),
    )


def refuse_set_operation(tree: exp.Expr, text: str) -> QueryError:
    """Return the refusal of a set operation of answers."""
    if not isinstance(tree, exp.SetOperation):
        hint = "write SELECT COUNT(*) FROM …"
        return refusal("only a SELECT is answered", text, span(tree, text), hint=hint)
    word = tree.key.upper()
    place = clause_span(tree.expression, word, text)
    parts = [tree.this, tree.expression]
    hint = "ask for each part by itself"
    if all(is_one_row(part) and len(part.unnest().expressions) == 1 for part in parts):
        asked = [part.sql(dialect="duckdb", comments=False) for part in parts]
        hint = f"SELECT {', '.join(f'({part})' for part in asked)}"
    return refusal(f"{word} of answers is not understood", text, place, hint=hint)


def names_a_participant(schema: Schema, block: Block, key: Scalar) -> bool:
    """Return whether a key of GROUP BY is a column that names whom a row belongs to, or names one row."""
    node = key.unnest()
    scan = next((s for s in block.sources if isinstance(node, exp.Column) and s.alias == node.table), None)
    owned = schema.ownership.of(scan.table.name) if isinstance(scan, Scan) else None
    unique = [tuple(map(fold, key)) for key in scan.table.keys] if isinstance(scan, Scan) else []
    if isinstance(owned, ProtectedTable | Linked) and (fold(node.name),) in unique:
        return True
    if isinstance(owned, ProtectedTable):
        return [fold(str(item)) for item in owned.key] == [fold(node.name)]
    if isinstance(owned, Linked):
        return any(
            tuple(map(fold, names)) == (fold(node.name),) for hop in owned.hops for names in hop.alternatives
        )
    return False


def refuse_join(join: exp.Join, text: str) -> None:
    """Refuse a kind of join that is not understood."""
    side, kind, method = (join.args.get(key) or "" for key in ("side", "kind", "method"))
    known = {key for key, value in join.args.items() if value} <= JOIN_PARTS
    kinds = ("", "OUTER") if side else ("", "INNER", "CROSS", "SEMI", "ANTI")
    if method not in ("", "NATURAL") or kind not in kinds or not known:
        name = " ".join(word for word in (method, side, kind) if word) or "this kind of"
        accepted = "JOIN … ON or USING, NATURAL, LEFT, RIGHT, FULL, CROSS, SEMI and ANTI JOIN, comma"
        hint = "write EXISTS (…) or JOIN … ON"
        raise refusal(f"{name} JOIN is not accepted", text, span(join, text), accepted=accepted, hint=hint)


def refuse_joins(joins: Sequence[exp.Join], text: str) -> None:
    """Refuse outer joins that are too many, or that a comma stands before.

    A comma binds less than a join, which matters where rows of the right side are kept.
    """
    outer = [join for join in joins if join.args.get("side")]
    if len(outer) > MAX_OUTER:
        hint = "join what is always there by JOIN"
        raise refusal("too many outer joins", text, span(outer[-1], text), accepted=f"{MAX_OUTER}", hint=hint)
    commas = [place for place, join in enumerate(joins) if not set(_held(join)) - {"this"}]
    for place, join in enumerate(joins):
        if join.args.get("side") in ("RIGHT", "FULL") and any(comma < place for comma in commas):
            raise _refused(
                "what stands before the comma does not belong to this join", join, text, "write CROSS JOIN"
            )


def _held(join: exp.Join) -> list[str]:
    return [key for key, value in join.args.items() if value]


def refuse_table_form(item: exp.Table, text: str) -> None:
    """Refuse a table with a sample, a pivot or anything else attached, and table functions."""
    for key, value in item.args.items():
        if value and key not in ("this", "alias", "db", "catalog", "joins"):
            _, problem, hint = CLAUSES.get(key, ("", "this form of a table is not accepted", None))
            raise _refused(problem, item, text, hint)
    if not isinstance(item.this, exp.Identifier):
        raise _refused("a table function reads something else than a table", item, text, "name a table")


def _refused(problem: str, node: exp.Expr, text: str, hint: str | None) -> QueryError:
    return refusal(problem, text, span(node, text), hint=hint)
