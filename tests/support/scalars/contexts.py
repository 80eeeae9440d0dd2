"""The clauses in which an expression can stand; each says what is wrong there, or nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from recuse.scalars import types
from recuse.scalars.expression import Call, Expression, Value, parts
from support.scalars import extremes

if TYPE_CHECKING:
    from support.scalars.check import Bench

Pairs = Sequence[tuple[Expression, str]]
Context = Callable[["Bench", Pairs], str | None]


def _key(value: Value) -> Any:
    return "NaN" if isinstance(value, float) and value != value else (type(value).__name__, value)


def _known(bench: Bench, expression: Expression) -> list[Value] | None:
    """Return the values of an expression, None if a transcendental function makes them uncertain."""
    names = {part.function.name for part in parts(expression) if isinstance(part, Call)}
    return None if names & TRANSCENDENTAL else bench.column(expression)


TRANSCENDENTAL = frozenset((
    "cbrt", "exp", "ln", "log10", "log2", "log", "pow", "sin", "cos", "tan", "cot", "asin", "acos", "atan",
    "atan2", "degrees", "radians", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
))  # fmt: skip
"""functions that may differ by one unit in the last place"""


def _condition(expression: Expression, sql: str) -> str:
    return sql if isinstance(expression.type, types.Boolean) else f"({sql}) IS NOT NULL"


def _holds(expression: Expression, values: Sequence[Value]) -> list[bool | None]:
    if isinstance(expression.type, types.Boolean):
        return [None if value is None else bool(value) for value in values]
    return [value is not None for value in values]


def _compare(found: Any, wanted: Any) -> str | None:
    return None if found == wanted else f"gave {found!r}, not {wanted!r}"


def _numbers(bench: Bench, sql: str) -> list[Any]:
    return [row[0] for row in bench.con.execute(sql).fetchall()]


def _rows_where(bench: Bench, pairs: Pairs, sql: str) -> str | None:
    found = _numbers(bench, sql)
    columns = [_known(bench, expression) for expression, _ in pairs]
    if any(column is None for column in columns):
        return None
    kept = [_holds(e, column) for (e, _), column in zip(pairs, columns, strict=True) if column is not None]
    return _compare(
        sorted(found), [row for row in range(len(bench.rows)) if all(c[row] is True for c in kept)]
    )


def where(bench: Bench, pairs: Pairs) -> str | None:
    return _rows_where(bench, pairs[:1], f"SELECT rid FROM t WHERE {_condition(*pairs[0])}")


def and_chain(bench: Bench, pairs: Pairs) -> str | None:
    chain = " AND ".join(f"({_condition(*pair)})" for pair in pairs)
    return _rows_where(bench, pairs, f"SELECT rid FROM t WHERE {chain}")


def on(bench: Bench, pairs: Pairs) -> str | None:
    other = "(SELECT * FROM (VALUES (0), (5), (13)) v(k))"
    chain = " AND ".join(f"({_condition(*pair)})" for pair in pairs)
    return _rows_where(bench, pairs, f"SELECT DISTINCT rid FROM t JOIN {other} o ON o.k < 99 AND {chain}")


def left_on(bench: Bench, pairs: Pairs) -> str | None:
    sql = (
        f"SELECT rid FROM t LEFT JOIN (SELECT 5 AS k) o ON o.k = 5 AND {_condition(*pairs[0])} WHERE o.k = 5"
    )
    return _rows_where(bench, pairs[:1], sql)


def exists(bench: Bench, pairs: Pairs) -> str | None:
    return _rows_where(
        bench,
        pairs[:1],
        f"SELECT rid FROM t WHERE EXISTS (SELECT 1 FROM made_one WHERE one = 1 AND {_condition(*pairs[0])})",
    )


def case(bench: Bench, pairs: Pairs) -> str | None:
    sql = f"SELECT rid FROM t WHERE CASE WHEN {_condition(*pairs[0])} THEN 1 ELSE 0 END = 1"
    return _rows_where(bench, pairs[:1], sql)


def filtered(bench: Bench, pairs: Pairs) -> str | None:
    counts = ", ".join(f"count(*) FILTER (WHERE {_condition(*pair)})" for pair in pairs)
    found = bench.con.execute(f"SELECT {counts} FROM t").fetchall()[0]
    for (expression, _), count in zip(pairs, found, strict=True):
        values = _known(bench, expression)
        if values is not None and count != _holds(expression, values).count(True):
            return f"counted {count}"
    return None


def distinct(bench: Bench, pairs: Pairs) -> str | None:
    expression, sql = pairs[0]
    found = extremes.values(bench.con, f"SELECT DISTINCT {sql} FROM t", [expression.type])
    values = _known(bench, expression)
    if values is None:
        return None
    wanted = {_key(value) for value in values}
    return _compare(len(found), len(wanted)) or _compare({_key(row[0]) for row in found}, wanted)


def group_by(bench: Bench, pairs: Pairs) -> str | None:
    expression, sql = pairs[0]
    kinds = [expression.type, types.BIGINT]
    found = extremes.values(bench.con, f"SELECT {sql}, count(*) FROM t GROUP BY {sql}", kinds)
    values = _known(bench, expression)
    if values is None:
        return None
    return _compare({_key(row[0]): row[1] for row in found}, dict(Counter(map(_key, values))))


def having(bench: Bench, pairs: Pairs) -> str | None:
    expression, sql = pairs[0]
    found = _numbers(bench, f"SELECT count(*) FROM t GROUP BY {sql} HAVING count({sql}) > 0 AND count(*) > 1")
    values = _known(bench, expression)
    if values is None:
        return None
    counts = Counter(_key(value) for value in values if value is not None)
    return _compare(sorted(found), sorted(n for n in counts.values() if n > 1))


def union(bench: Bench, pairs: Pairs) -> str | None:
    expression, sql = pairs[0]
    found = extremes.values(
        bench.con, f"SELECT {sql} FROM t UNION SELECT {sql} FROM t WHERE rid > 20", [expression.type]
    )
    values = _known(bench, expression)
    return None if values is None else _compare(len(found), len(set(map(_key, values))))


def except_(bench: Bench, pairs: Pairs) -> str | None:
    left = pairs[0][1]
    found = _numbers(bench, f"SELECT count(*) FROM (SELECT {left} FROM t EXCEPT SELECT {left} FROM t)")
    return _compare(found, [0])


def in_select(bench: Bench, pairs: Pairs) -> str | None:
    expression, sql = pairs[0]
    found = _numbers(bench, f"SELECT rid FROM t WHERE {sql} IN (SELECT {sql} FROM t)")
    values = _known(bench, expression)
    if values is None:
        return None
    return _compare(sorted(found), [row for row, value in enumerate(values) if value is not None])


def order_by(bench: Bench, pairs: Pairs) -> str | None:
    keys = ", ".join(f"{sql} DESC" for _, sql in pairs)
    return _compare(len(_numbers(bench, f"SELECT rid FROM t ORDER BY {keys}")), len(bench.rows))


def empty(bench: Bench, pairs: Pairs) -> str | None:
    listed = ", ".join(sql for _, sql in pairs)
    return _compare(bench.con.execute(f"SELECT {listed} FROM t WHERE rid < 0").fetchall(), [])


def no_rows(bench: Bench, pairs: Pairs) -> str | None:
    sql = pairs[0][1]
    return _compare(_numbers(bench, f"SELECT count(*) FROM (SELECT DISTINCT {sql} FROM t WHERE FALSE)"), [0])


def aggregated(bench: Bench, pairs: Pairs) -> str | None:
    listed = ", ".join(f"count(DISTINCT {sql}), min({sql})" for _, sql in pairs)
    bench.con.execute(f"SELECT {listed} FROM t").fetchall()
    return None


ALL: tuple[Context, ...] = (
    where, and_chain, on, left_on, exists, case, filtered, distinct, group_by, having, union, except_,
    in_select, order_by, empty, no_rows, aggregated,
)  # fmt: skip
