"""sqlglot reads expressions as DuckDB does: with every bracket written out, DuckDB's own parser agrees."""

from __future__ import annotations

import contextlib
import json
from itertools import product

import pytest
from sqlglot import exp, parse_one
from sqlglot.errors import ParseError

from recuse.sql.foreign import accepted_nodes
from support.sql.shop import the_engine

BINARY = ["+", "-", "*", "/", "//", "%", "||", "=", "<>", "<", ">=", "AND", "OR", "LIKE", "NOT LIKE", "ILIKE"]
BINARY += ["IS DISTINCT FROM", "IS NOT DISTINCT FROM"]
PREFIX = ["NOT ", "-"]
POSTFIX = [" IS NULL", " IS NOT NULL", "::BIGINT", " IN (x, y)", " NOT IN (x, y)", " BETWEEN x AND y"]

EXPRESSIONS = [
    *(f"a {first} b {second} c" for first, second in product(BINARY, BINARY)),
    *(f"{prefix}a {operator} b" for prefix, operator in product(PREFIX, BINARY)),
    *(f"a {operator} b{postfix}" for operator, postfix in product(BINARY, POSTFIX)),
    *(f"a{postfix} {operator} b" for operator, postfix in product(BINARY, POSTFIX)),
    *(f"{prefix}a{postfix}" for prefix, postfix in product(PREFIX, POSTFIX)),
]


def duckdb_tree(expression: str) -> object:
    """Return how DuckDB's parser reads an expression, or None where it does not."""
    text = f"SELECT 1 FROM t WHERE {expression}".replace("'", "''")
    ((answer,),) = the_engine().connection.sql(f"SELECT json_serialize_sql('{text}')").fetchall()
    found = json.loads(answer)
    return None if found["error"] else plain(found["statements"][0]["node"]["where_clause"])


def plain(tree: object) -> object:
    """Drop the places; a conjunction of conjunctions is one, IS NOT NULL is NOT IS NULL."""
    if isinstance(tree, list):
        return [plain(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    kept = {key: plain(value) for key, value in tree.items() if not key.startswith("query_location")}
    if kept.get("type") == "OPERATOR_IS_NOT_NULL":
        return {**kept, "type": "OPERATOR_NOT", "children": [{**kept, "type": "OPERATOR_IS_NULL"}]}
    if kept.get("class") == "CONJUNCTION":
        kept["children"] = [
            leaf
            for child in kept["children"]
            for leaf in (child["children"] if child.get("type") == kept["type"] else [child])
        ]
    return kept


def bracketed(expression: str) -> str:
    """Return the expression as sqlglot reads it, every operation in brackets."""

    def wrap(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column | exp.Identifier | exp.Literal | exp.DataType | exp.Null | exp.Paren):
            return node
        return exp.Paren(this=node)

    tree = parse_one(expression, dialect="duckdb")
    for node in list(tree.walk(bfs=False))[::-1]:
        if node is not tree and type(node) in accepted_nodes():
            node.replace(wrap(node.copy()))
    return tree.sql(dialect="duckdb")


def test_both_parsers_read_the_same_expression():
    differ = []
    for expression in EXPRESSIONS:
        with contextlib.suppress(ParseError):  # what sqlglot cannot read is refused
            ours, theirs = bracketed(expression), duckdb_tree(expression)
            if theirs is not None and theirs != duckdb_tree(ours):
                differ.append((expression, ours))
    assert not differ


@pytest.mark.parametrize("expression", ["a + b", "a < b AND c"])
def test_the_comparison_can_fail(expression):
    assert duckdb_tree(expression) != duckdb_tree("b + a")
