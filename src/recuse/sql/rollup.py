"""GROUP BY with ROLLUP, CUBE or GROUPING SETS → which keys each of its sets has.

GROUP BY a, ROLLUP (b, c)              (a, b, c), (a, b), (a)
GROUP BY CUBE (a, b)                   (a, b), (a), (b), ()
GROUP BY GROUPING SETS ((a, b), ())    as they stand

Every set is a question by itself: the same SELECT with `GROUP BY` its keys, in which the other keys are NULL.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from sqlglot import exp

Set = tuple[exp.Expr, ...]

MOST_SETS = 32
"""each has its part of ε, and statements of its own"""
SEVERAL = (exp.Rollup, exp.Cube, exp.GroupingSets)
MOST_COLUMNS = 12
"""of one ROLLUP or CUBE: beyond them there are more sets than anybody counts"""


def has_sets(group: exp.Group) -> bool:
    """Return whether GROUP BY asks for several sets of keys."""
    return any(isinstance(node, SEVERAL) for node in group.expressions)


def grouping_sets(group: exp.Group) -> list[Set] | None:
    """Return the sets of a GROUP BY that has some, in their order; None if it lists keys, or is another form.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one("SELECT 1 FROM t GROUP BY a, ROLLUP (b, (c, d))")
    >>> [[key.sql() for key in one] for one in grouping_sets(tree.args["group"])]
    [['a', 'b', 'c', 'd'], ['a', 'b'], ['a']]
    """
    if {key for key, value in group.args.items() if value} != {"expressions"} or not has_sets(group):
        return None
    found: list[Set] = [()]
    for node in group.expressions:
        inside = _sets(node)
        if len(found) * len(inside) > MOST_SETS:
            return None
        found = [(*before, *one) for before in found for one in inside]
    return [_once(one) for one in found]


def _sets(node: exp.Expr) -> list[Set]:
    """Return the sets that an element of GROUP BY stands for; too many of them are none."""
    if isinstance(node, exp.GroupingSets):
        return [one for part in node.expressions for one in _sets(part)]
    if not isinstance(node, exp.Rollup | exp.Cube):
        return [_keys(node)]
    parts = [_keys(part) for part in node.expressions]
    if len(parts) > MOST_COLUMNS:
        return [()] * (MOST_SETS + 1)
    counts = range(len(parts), -1, -1)
    if isinstance(node, exp.Rollup):
        return [_joined(parts[:count]) for count in counts]
    return [_joined(chosen) for count in counts for chosen in combinations(parts, count)]


def _keys(node: exp.Expr) -> Set:
    """Return the keys of a set: one, or those in parentheses."""
    plain = node.unnest()
    return tuple(plain.expressions) if isinstance(plain, exp.Tuple) else (plain,)


def _joined(parts: Iterable[Set]) -> Set:
    return tuple(key for part in parts for key in part)


def _once(keys: Set) -> Set:
    return tuple({key.sql(): key for key in keys}.values())


def bits(places: Iterable[int], kept: Iterable[int]) -> int:
    """Return what GROUPING says of keys in a set: a bit each, the last one lowest, 1 where it is not in it.

    >>> bits((0, 1), (1,)), bits((0, 1), ())
    (2, 3)
    """
    known, found = set(kept), 0
    for place in places:
        found = 2 * found + (place not in known)
    return found
