"""In a notebook without ipywidgets DuckDB lets nobody touch its progress bar; sessions open all the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

NOTEBOOK = """
import sys, types

class Kernel:
    config = {"IPKernelApp": {}}

module = types.ModuleType("IPython")
module.get_ipython = Kernel
sys.modules["IPython"] = module
sys.modules["ipywidgets"] = None
"""
OPEN = """
import duckdb, pyarrow, recuse
from recuse.engines.open import open_engine

RULES = recuse.Policy.parse('[[protect]]\\ntable = "t"\\nkey = ["id"]\\n[budget]\\nepsilon = 1')
frames = {"t": pyarrow.table({"id": [1, 2]})}
made = duckdb.connect()
made.execute("CREATE TABLE t (id INTEGER)")
for source in (frames, made):
    with recuse.connect(source, RULES) as session:
        session.ask("SELECT COUNT(*) FROM t", "0.1")
        connection = session.engine.connection
        assert connection.sql("SELECT current_setting('enable_progress_bar')").fetchall() == [(False,)]
        print("answered")
recuse.graph(pyarrow.table({"a": [1, 2], "b": [2, 3]})).count("triangle", protect="node", epsilon=1)
print("counted")
done = True
"""
REFUSED = """
import duckdb
try:
    duckdb.connect().execute("SET enable_progress_bar = false")
    print("changed")
except duckdb.Error:
    print("refused")
"""


def printed(code: str) -> list[str]:
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return found.stdout.split()


def test_duckdb_takes_this_for_a_notebook():
    """If not, the test below shows nothing."""
    if printed(NOTEBOOK + REFUSED) == ["changed"]:
        pytest.skip("this version of DuckDB lets the setting be changed in a notebook")


def test_sessions_open_in_a_notebook_without_ipywidgets():
    assert printed(NOTEBOOK + OPEN) == ["answered", "answered", "counted"]


def test_sessions_open_in_a_kernel():
    """The real thing, where it is installed."""
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    client = pytest.importorskip("jupyter_client", reason="jupyter_client is not installed")
    manager, kernel = client.manager.start_new_kernel(kernel_name="python3")
    try:
        kernel.execute_interactive(OPEN, timeout=120, store_history=False, stop_on_error=True)
        reply = kernel.execute_interactive("1", timeout=30, user_expressions={"done": "done"})
        assert reply["content"]["status"] == "ok"
        assert reply["content"]["user_expressions"]["done"]["status"] == "ok"
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)
