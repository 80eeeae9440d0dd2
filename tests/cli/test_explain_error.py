"""`recuse explain-error`: a message by its code, or by its words."""

from __future__ import annotations

import json


def test_the_command_explains(recuse):
    code, out, _ = recuse("explain-error", "query.this-would-list-individuals-nothing-is-aggregated")
    assert code == 0
    assert out.splitlines()[1].startswith("says      this would list individuals")
    assert "instead   SELECT" in out
    assert json.loads(recuse("explain-error", "more delta", "--json")[1].splitlines()[0])["code"]
