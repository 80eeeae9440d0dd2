"""What is refused whatever it is about: clauses, table functions, kinds of joins; why, and what to write."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import exp

from recuse.errors import QueryError
from recuse.sql.position import clause_span, refusal, span

# clause in sqlglot's tree: how it is written, why it is refused, what to write instead
CLAUSES: dict[str, tuple[str, str, str | None]] = {
    "with_": ("WITH", "a WITH clause is not accepted here", "write it before the outermost SELECT"),
    "distinct": ("DISTINCT", "DISTINCT over the answer means nothing", "write COUNT(DISTINCT x)"),
    "group": ("GROUP BY", "GROUP BY is not accepted here", "group in the outermost SELECT"),
    "having": ("HAVING", "HAVING compares aggregates of private rows", "move the condition to WHERE"),
    "order": ("ORDER BY", "ORDER BY is not accepted here", "leave ORDER BY out"),
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
        keyword, problem, hint = CLAUSES.get(key, (key.upper(), f"this clause is not accepted: {key}", None))
        if not isinstance(node, exp.Expr):  # a mere flag, such as BY NAME
            node = tree.args.get("expression") or tree
        place = clause_span(node, keyword, text)
        raise refusal(problem, text, place, hint=hint)


def refuse_having(having: exp.Having, text: str) -> None:
    """Refuse any HAVING but COUNT(*) >= 1, which every group satisfies."""
    test = having.this.unnest()
    match test:
        case exp.GTE(this=exp.Count(this=exp.Star()), expression=exp.Literal(this="1")):
            return
        case exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal(this="0")):
            return
    keyword, problem, hint = CLAUSES["having"]
    raise refusal(problem, text, clause_span(having, keyword, text), accepted="COUNT(*) >= 1", hint=hint)


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
