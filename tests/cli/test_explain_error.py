"""`recuse explain-error`: a message by its code, or by its words."""

from __future__ import annotations

import json

from recuse.cli.refusal import refused
from recuse.errors import DatabaseError, ParameterError, UnansweredError


def test_the_command_explains(recuse):
    code, out, _ = recuse("explain-error", "query.this-would-list-individuals-nothing-is-aggregated")
    assert code == 0
    assert out.splitlines()[1].startswith("says      this would list individuals")
    assert "instead   SELECT" in out
    assert json.loads(recuse("explain-error", "more delta", "--json")[1].splitlines()[0])["code"]


def test_on_a_terminal_a_refusal_leads_to_its_explanation(monkeypatch):
    error = ParameterError("who is protected?")
    assert refused(error) == "recuse: who is protected?"
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert refused(error).splitlines()[1:] == ["    recuse explain-error parameter.who-is-protected"]
    assert refused(UnansweredError()) == f"recuse: {UnansweredError()}"


def test_a_notebook_shows_the_command_that_explains():
    shown = DatabaseError("the ledger of nobody")._render_traceback_()
    assert shown == ["DatabaseError: the ledger of nobody"]
    assert ParameterError("who is protected?")._render_traceback_()[1].endswith("parameter.who-is-protected")
