"""No function on the way of a question only forwards, and the way is as deep as the page says."""

from __future__ import annotations

import ast

import pytest

from support.trace import ask_graph, ask_sql, forwarders, only_forwards


def test_nothing_on_the_way_of_an_sql_question_only_forwards(tmp_path):
    assert sorted(forwarders(ask_sql(tmp_path))) == []


def test_nothing_on_the_way_of_a_graph_question_only_forwards():
    assert sorted(forwarders(ask_graph())) == []


@pytest.mark.parametrize(
    ("text", "forwards"),
    [
        ("def f(a, b):\n    return g(a, b)", True),
        ('def f(self, a):\n    """Says so."""\n    return self.other(a)', True),
        ("def f(a, *, b):\n    g(a, b=b)", True),
        ("def f(self, a):\n    return self.wrapped.f(a)", False),
        ("def f(a, b):\n    return g(b, a)", False),
        ("def f(a):\n    return g(a, 1)", False),
        ("def f(self):\n    return self.g()", False),
        ("def f(self, a):\n    return Made(self.b).g(a)", False),
        ("def f(count):\n    return secrets.randbits(count)", False),
    ],
)
def test_what_only_forwards(text, forwards):
    (function,) = ast.parse(text).body
    assert only_forwards(function) is forwards
