"""Logs and everything else that is written: searched for values of the data and for true answers."""

from __future__ import annotations

import logging
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from recuse.cli.app import main
from recuse.noise import SecureNoise
from support.marked import PEOPLE, leaked, make_victims
from support.noise import Seeded

ASKING = """
import logging, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
logging.captureWarnings(True)
import recuse
{twin}
with recuse.connect(sys.argv[1], sys.argv[2]) as db:
    for name in {mechanisms}:
        for text in (
            "SELECT COUNT(*) FROM person",
            "SELECT COUNT(DISTINCT day), SUM(cost), AVG(cost) FROM visit",
            "SELECT year, COUNT(*) FROM person JOIN visit ON id = person GROUP BY year",
        ):
            db.ask(text, sys.argv[3], mechanism=name)
"""
LOGGING = """
from recuse.mechanism.racing import Racing
release = Racing.release
def logged(self, subject, noise):
    logging.getLogger("recuse").debug("the truth is %s", subject.relation.true_answer())
    return release(self, subject, noise)
Racing.release = logged
"""
"""A broken twin: somebody left a line in that logs what is counted."""


PYTHON = [sys.executable, "-X", "dev", "-W", "always", "-c"]


@pytest.fixture
def victims(tmp_path_factory) -> tuple[Path, Path]:
    return make_victims(tmp_path_factory.mktemp("logs"))


def written(victims: tuple[Path, Path], twin: str = "") -> str:
    """Return all that we or any library write to the standard streams while questions are asked."""
    names = ("selective",) if twin else ("selective", "tuned", "paper")  # a twin is caught by the first
    script = ASKING.replace("{twin}", twin).replace("{mechanisms}", repr(names))
    done = subprocess.run(
        [*PYTHON, script, *map(str, victims), "1"],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return done.stdout + done.stderr


def test_nothing_is_logged_of_the_data(tmp_path):
    found = written(make_victims(tmp_path))
    assert leaked(found) == []
    assert "recuse" not in found, "the package logs nothing at all"


def test_the_twin_that_logs_what_it_counts_is_caught(tmp_path):
    assert str(PEOPLE) in leaked(written(make_victims(tmp_path), LOGGING))


def test_the_package_has_no_loggers_but_the_servers():
    """That one says how much of a budget is spent, which is public (`server/alerts.py`)."""
    made = logging.root.manager.loggerDict.items()
    ours = {name for name, log in made if isinstance(log, logging.Logger) and name.startswith("recuse")}
    assert ours <= {"recuse.server"}


COMMANDS = """
ask DATABASE "SELECT COUNT(*) FROM person" --policy POLICY --epsilon 0.00001
ask DATABASE "SELECT COUNT(*) FROM visit" --policy POLICY --epsilon 0.00001 --json
ask DATABASE "SELECT SUM(cost) FROM visit" --policy POLICY --epsilon 0.00001
explain DATABASE "SELECT COUNT(*) FROM visit JOIN person ON person = id" --policy POLICY
policy check POLICY DATABASE
init DATABASE --protect person
budget export DATABASE
budget DATABASE --json
"""


def test_the_command_line_and_its_ledger_hold_answers_only(victims, monkeypatch, capfd):
    """Noise this large hides the truth: where it is found, it was not released.

    The draws are seeded: one run in ten thousand would release the truth itself.
    """
    source = Seeded(5)
    monkeypatch.setattr(SecureNoise, "bits", lambda _, count: source.bits(count))
    monkeypatch.setattr(SecureNoise, "laplace", lambda _, scale: source.laplace(scale))
    database, policy = map(str, victims)
    for line in COMMANDS.strip().splitlines():
        words = [word.replace("DATABASE", database).replace("POLICY", policy) for word in shlex.split(line)]
        monkeypatch.setattr(sys, "argv", ["recuse", *words])
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code, line
    assert leaked("".join(capfd.readouterr())) == []
    for path in victims[0].parent.glob("*.ledger*"):
        assert leaked(path.read_bytes().decode("latin-1")) == []
