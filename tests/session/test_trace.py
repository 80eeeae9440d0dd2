"""No function on the way of a question only forwards, and the way is as deep as the page says."""

from __future__ import annotations

import ast
import re

import pytest

from support.documents import ROOT
from support.trace import ask_graph, ask_sql, forwarders, only_forwards

PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text()


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    return {"SQL": ask_sql(tmp_path_factory.mktemp("trace")), "graph": ask_graph()}


@pytest.mark.parametrize("kind", ["SQL", "graph"])
def test_nothing_on_the_way_of_a_question_only_forwards(traces, kind):
    assert sorted(forwarders(traces[kind])) == []


def test_both_kinds_of_questions_go_through_one_spine(traces):
    """Function by function: identity, charge, read, release, store and stamp are the same code."""
    sql, graph = (
        {code.co_qualname for code in trace.codes if code.co_filename.endswith("session/spine.py")}
        for trace in traces.values()
    )
    assert sql == graph
    assert {"Spine.charge", "Spine._answer", "release"} <= sql
    for trace in traces.values():
        assert any(code.co_qualname == "question_key" for code in trace.codes)
        assert any(code.co_qualname == "Ledger.charge" for code in trace.codes)
        assert any(code.co_qualname == "Ledger.store" for code in trace.codes)


@pytest.mark.parametrize("kind", ["SQL", "graph"])
def test_the_page_says_how_long_the_way_is(traces, kind):
    """To a tenth; where somebody asked before, fewer functions are called: some things are known by then."""
    line = rf"^\| {kind}: functions / files / depth \|.*\| (\d+) / (\d+) / (\d+) \|$"
    ((functions, files, depth),) = re.findall(line, PAGE, re.MULTILINE)
    trace = traces[kind]
    assert len(trace.codes) <= 1.1 * int(functions)
    assert len(trace.files()) <= 1.1 * int(files)
    assert trace.depth == pytest.approx(int(depth), rel=0.1)


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
