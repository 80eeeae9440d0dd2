"""HISTOGRAM(x, …) in a SELECT list, written as rows in groups: a row for every bin.

    HISTOGRAM(x, [10, 20])       above … up to: (… 10), (10 … 20), (20 …)
    HISTOGRAM(x, 5, 0, 100)      six edges of equal width from 0 to 100, and what lies outside
    HISTOGRAM(x, 5)              the same between the smallest and the largest x, which are released first

A bin holds what is above its lower edge and up to its upper one, as in DuckDB; rows without x are in none.
What is written here is SQL that is read as if a person had written it. Bins are a CASE of constants, so they
are known without looking: histograms are groups like any others, for one ε.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from fractions import Fraction

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import fold
from recuse.privacy import decimal_text
from recuse.sql.listed import literal_value
from recuse.sql.placeholder import EDGE, PutFirst, asked_first
from recuse.sql.position import refusal, span

NAME = "histogram"
MOST_EDGES = 1000
PLACES = 12
"""decimal places of edges that are computed"""
MOST_BETWEEN_RELEASED = 100
LABEL, HIDDEN = "label", "hidden"
"""in the `meta` of a column: it says what its row is about, though it was released first; it is not shown"""
BIN, ABOVE, UP_TO, COUNT = "bin of the histogram", "above", "up_to", "count"
HINT = (
    "write HISTOGRAM(x, [0, 10, 20]), HISTOGRAM(x, 20, 0, 100) or HISTOGRAM(x, 20);"
    " of dates HISTOGRAM(d, [DATE '2025-01-01', DATE '2026-01-01'])"
)


def written_histogram(tree: exp.Select, text: str, first: PutFirst) -> exp.Select:
    """Return a SELECT with its HISTOGRAM as a key of GROUP BY and a count; any other as it is."""
    calls = [place for place, node in enumerate(tree.expressions) if _call(node) is not None]
    if not calls:
        return tree
    place, node = calls[0], tree.expressions[calls[0]]
    call = _call(node)
    if call is None or len(calls) > 1:
        raise _refuse("one histogram is answered at a time", tree.expressions[calls[-1]], text)
    group = tree.args.get("group")
    if group is not None and not group.expressions:
        raise _refuse("a histogram is answered in groups that are listed", node, text)
    edges = _edges(call, tree, text, first)
    bins = _bins(call.expressions[0], edges)
    found = tree.copy()
    found.set(
        "expressions",
        [
            _marked(HIDDEN, exp.alias_(bins, BIN, quoted=True)),
            *found.expressions[:place],
            _label(ABOVE, [None, *edges]),
            _label(UP_TO, [*edges, None]),
            exp.alias_(_counted(node.unalias()), node.alias or COUNT, quoted=True),
            *found.expressions[place + 1 :],
        ],
    )
    keys = [] if group is None else [key.copy() for key in group.expressions]
    found.set("group", exp.Group(expressions=[*keys, bins.copy()]))
    return found


def _call(node: exp.Expr) -> exp.Anonymous | None:
    """Return the call of HISTOGRAM that a column is, a FILTER around it left out."""
    inner = node.unalias()
    inner = inner.this if isinstance(inner, exp.Filter) else inner
    return inner if isinstance(inner, exp.Anonymous) and fold(inner.name) == NAME else None


def _counted(node: exp.Expr) -> exp.Expr:
    """Return how many rows there are, those of a FILTER alone."""
    rows = exp.Count(this=exp.Star(), big_int=True)
    return exp.Filter(this=rows, expression=node.expression.copy()) if isinstance(node, exp.Filter) else rows


def _bins(value: exp.Expr, edges: Sequence[exp.Expr]) -> exp.Expr:
    """Return which bin a value lies in: a CASE of constants."""
    tests: list[exp.Expr] = [exp.LTE(this=exp.paren(value.copy()), expression=edge.copy()) for edge in edges]
    tests.append(exp.GT(this=exp.paren(value.copy()), expression=edges[-1].copy()))
    return exp.Case(
        ifs=[exp.If(this=test, true=exp.Literal.number(place)) for place, test in enumerate(tests)]
    )


def _label(name: str, edges: Sequence[exp.Expr | None]) -> exp.Expr:
    """Return a column that says an edge of every bin; NULL where it has none."""
    place = exp.column(exp.to_identifier(BIN, quoted=True))
    said = [
        exp.If(this=exp.EQ(this=place.copy(), expression=exp.Literal.number(number)), true=edge.copy())
        for number, edge in enumerate(edges)
        if edge is not None
    ]
    return _marked(LABEL, exp.alias_(exp.Case(ifs=said), name, quoted=True))


def _marked(mark: str, column: exp.Expr) -> exp.Expr:
    column.meta[mark] = True
    return column


# ---------------------------------------------------------------------- edges


def _edges(call: exp.Anonymous, tree: exp.Select, text: str, first: PutFirst) -> list[exp.Expr]:
    """Return the edges of a call, smallest first, or refuse it."""
    value, *rest = [*call.expressions, None][: max(1, len(call.expressions))]
    if value is None or len(rest) not in (1, 3):
        raise _refuse("HISTOGRAM takes a value and its edges, or how many bins there are", call, text)
    if len(rest) == 1 and isinstance(rest[0], exp.Array):
        return _given(rest[0].expressions, call, text)
    count = _whole(rest[0])
    if count is None:
        raise _refuse("the edges of a histogram are a list of constants, or a number of bins", call, text)
    if len(rest) == 1 and count > MOST_BETWEEN_RELEASED:
        problem = f"between ends that are released there are up to {MOST_BETWEEN_RELEASED} bins"
        raise _refuse(problem, call, text)
    if len(rest) == 1:
        return _released(value, count, tree, first)
    low, high = (_number(end) for end in rest[1:])
    if low is None or high is None or not low < high:
        problem = "the ends of a histogram are two numbers, the smaller one first; dates are listed"
        raise _refuse(problem, call, text)
    return [_constant(edge) for edge in equal_width(count, low, high)]


def equal_width(count: int, low: Fraction, high: Fraction) -> list[Fraction]:
    """Return the edges of so many bins of equal width.

    >>> [str(edge) for edge in equal_width(4, Fraction(0), Fraction(10))]
    ['0', '5/2', '5', '15/2', '10']
    """
    return [round(low + (high - low) * place / count, PLACES) for place in range(count + 1)]


def _given(nodes: Sequence[exp.Expr], call: exp.Expr, text: str) -> list[exp.Expr]:
    values = [literal_value(node) for node in nodes]
    numbers = [value for value in values if isinstance(value, int | Fraction)]
    days = [value for value in values if isinstance(value, str) and _is_moment(value)]
    typed = all(isinstance(node, exp.Cast) for node in nodes)
    ordered = numbers if len(numbers) == len(nodes) else days if len(days) == len(nodes) and typed else []
    if not ordered or sorted(set(ordered)) != ordered or len(ordered) > MOST_EDGES:
        problem = f"the edges of a histogram are up to {MOST_EDGES:,} numbers or dates, smallest first"
        raise _refuse(problem, call, text)
    return [node.copy() for node in nodes]


def _released(value: exp.Expr, count: int, tree: exp.Select, first: PutFirst) -> list[exp.Expr]:
    """Return edges between the smallest and the largest value of all rows, which are released first."""
    said = value.sql(dialect="duckdb")
    low = first(_end(exp.Min(this=value.copy()), f"the smallest {said}", tree))
    high = first(_end(exp.Max(this=value.copy()), f"the largest {said}", tree))
    width = exp.paren(exp.Sub(this=high, expression=low))
    return [
        exp.paren(exp.Add(this=low.copy(), expression=exp.Div(
            this=exp.Mul(this=width.copy(), expression=exp.Literal.number(place)),
            expression=exp.Literal.number(count))))
        for place in range(count + 1)
    ]  # fmt: skip


def _end(value: exp.Expr, said: str, tree: exp.Select) -> exp.Select:
    query = asked_first(value, said, tree)
    query.meta[EDGE] = True
    return query


def _whole(node: exp.Expr) -> int | None:
    value = literal_value(node)
    return value if type(value) is int and 1 <= value < MOST_EDGES else None


def _number(node: exp.Expr) -> Fraction | None:
    value = literal_value(node)
    return Fraction(value) if isinstance(value, int | Fraction) and not isinstance(value, bool) else None


def _constant(value: Fraction) -> exp.Expr:
    size = exp.Literal.number(decimal_text(abs(value)))
    return exp.Neg(this=size) if value < 0 else size


def _is_moment(value: str) -> bool:
    try:
        date.fromisoformat(value[:10])
    except ValueError:
        return False
    return True


def _refuse(problem: str, node: exp.Expr, text: str) -> QueryError:
    return refusal(problem, text, span(node, text), hint=HINT)
