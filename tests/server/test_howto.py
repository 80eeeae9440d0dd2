"""A newcomer follows the guide: its commands, as they are written, lead to an answer in psql."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import recuse
from recuse.cli.app import app
from recuse.ledger.mark import mark_of
from support.documents import ROOT
from support.serving import COUNT, make_school

GUIDE = (ROOT / "docs" / "how-to" / "server-in-ten-minutes.md").read_text()
COMMANDS = re.search(r"```text\n(pip.*?)```", GUIDE, re.DOTALL)[1].splitlines()


def is_free(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) != 0


def test_six_commands_lead_to_an_answer(tmp_path):
    if shutil.which("psql") is None or not (is_free(5433) and is_free(8080)):
        pytest.skip("no psql, or a port of the guide is in use")
    (tmp_path / "school").mkdir()
    (tmp_path / "school" / "pupil.csv").write_text("id\n" + "".join(f"{n}\n" for n in range(200)))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    install, init, serve, grant, make, psql = COMMANDS
    assert install.startswith("pip install")

    def run(command, **more):
        said = command.replace("recuse ", f"{shlex.quote(sys.executable)} -m recuse ", 1)
        return subprocess.run(
            said,
            shell=True,
            cwd=tmp_path,
            env=environment | more,
            capture_output=True,
            text=True,
            timeout=120,
        )

    assert run(init).returncode == 0
    server = subprocess.Popen(
        [sys.executable, "-m", *shlex.split(serve)],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert any(line == "ready\n" for line in server.stdout)
        assert run(grant).returncode == 0
        token = re.search(r"rcs_\w+", run(make).stdout)[0]
        found = subprocess.run(
            shlex.split(psql),
            env=environment | {"PGPASSWORD": token},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert "(1 row)" in found.stdout, found.stderr
        assert "epsilon 0.5 charged, 1.5 left" in found.stderr
    finally:
        server.terminate()
        server.wait(30)
        server.stdout.close()


def blocks(guide: str) -> list[str]:
    text = (ROOT / "docs" / "how-to" / f"{guide}.md").read_text()
    return re.findall(r"```text\n(.*?)```", text, re.DOTALL)


def invoked(command: list[str]) -> None:
    found = CliRunner().invoke(app, command[1:])
    assert found.exit_code == 0, found.output


def test_a_copy_of_the_ledger_is_made_and_put_back(tmp_path, monkeypatch):
    """The commands of the guide to backups; what was charged after the copy is not forgotten."""
    monkeypatch.chdir(tmp_path)
    make_school(tmp_path)
    Path("school.duckdb").rename("school")
    backup, restore = (shlex.split(block) for block in blocks("backups-and-upgrades"))
    Path("copies").mkdir()
    with recuse.connect("school", "school.toml") as session:
        session.ask(COUNT, 1)
        invoked(backup)
        session.ask(COUNT, 2)
        session.ledger.mark().write(mark_of(Path("school.ledger")))
    for lost in ("", "-wal", "-shm"):
        Path(f"school.ledger{lost}").unlink(missing_ok=True)
    invoked(restore)
    with recuse.connect("school", "school.toml") as session:
        assert session.budget.spent == 3


def test_pandas_asks_as_the_guide_says(school):
    (code,) = (block for block in blocks("connect-tools") if "pandas" in block)
    token = school.token("joy")
    said = code.replace("ada:rcs_…@127.0.0.1:5433", f"joy:{token}@127.0.0.1:{school.ports['postgres']}")
    assert said != code
    *before, question = said.splitlines()
    names: dict[str, Any] = {}
    exec("\n".join(before), names)
    found = eval(question, names)
    names["engine"].dispose()
    assert (list(found.columns), len(found)) == (["n"], 1)
    assert school.spent("joy") == Fraction(1, 2)
