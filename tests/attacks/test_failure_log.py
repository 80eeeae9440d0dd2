"""What is said beside an answer that failed: nothing, but to the log that the custodian turned on."""

from __future__ import annotations

import os
import stat
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest

from recuse.errors import UnansweredError
from recuse.session import spine
from recuse.session.fingerprint import policy_hash
from recuse.session.outward import FailureLog
from recuse.session.session import connect
from support.fault_cases import NUMBER, POLICY, asking, form_of_one_failure, loss, made, opened
from support.fault_injection import SECRET, UnprintableError


@pytest.fixture
def session():
    with opened("number", made()) as found:
        yield found


def test_warnings_are_neither_shown_nor_raised(session, monkeypatch, capfd):
    """pytest makes errors of warnings here; a process may also print what arrays overflow."""
    release = spine.release

    def loud(*arguments: Any) -> Any:
        warnings.warn(SECRET, RuntimeWarning, stacklevel=1)
        numpy.array([1e308]) * 1e308
        return release(*arguments)

    monkeypatch.setattr(spine, "release", loud)
    for mode in ("raise", "print", "warn"):
        with numpy.errstate(all=mode):
            assert session.ask(NUMBER, loss())
    assert capfd.readouterr() == ("", "")


def test_details_go_to_a_private_file_that_the_policy_names(tmp_path, monkeypatch, capfd):
    policy, log = tmp_path / "policy.toml", tmp_path / "failures.log"
    text = '[[protect]]\ntable = "person"\nkey = ["id"]\n[budget]\nepsilon = 9\n'
    monkeypatch.setattr(spine, "release", lambda *_: {}[SECRET])
    for named in ("", '[log]\nfailures = "failures.log"\n'):
        policy.write_text(text + named)
        with connect(made(), policy) as opened, pytest.raises(UnansweredError):
            opened.ask("SELECT COUNT(*) FROM person", 1)
        assert log.exists() is bool(named), "nothing is written unless the custodian says so"
    assert SECRET in log.read_text()
    assert "in _answer" in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", ["folder", "link", "absent", "pipe", "terminal"])
def test_a_log_that_cannot_be_written_changes_nothing(kind, tmp_path, session, monkeypatch, capfd):
    place, seen = tmp_path / "log", tmp_path / "seen"
    if kind == "folder":
        place.mkdir()
    elif kind == "link":
        seen.touch()
        place.symlink_to(seen)
    elif kind == "absent":
        place = tmp_path / "no" / "log"
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place = Path("/dev/stderr")
    expected = form_of_one_failure(asking(session, "number"))
    monkeypatch.setattr(session, "failures", FailureLog(place))
    assert form_of_one_failure(asking(session, "number")) == expected
    assert capfd.readouterr() == ("", "")
    assert not seen.exists() or not seen.read_text()


def test_a_log_that_others_could_read_is_closed_to_them(tmp_path):
    log = tmp_path / "log"
    log.touch(0o644)
    FailureLog(log).note(UnprintableError())
    FailureLog(log).note(ValueError(SECRET))
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert SECRET in log.read_text()


def test_the_log_is_no_part_of_what_a_policy_says():
    named = replace(POLICY, failure_log=Path("x"))
    assert named == POLICY
    assert policy_hash(named) == policy_hash(POLICY)
