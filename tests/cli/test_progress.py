"""The spinner: on a terminal only, and of the clock only."""

from __future__ import annotations

import io
import re
import time

from recuse.cli import progress
from recuse.cli.progress import ERASE, working


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_the_time_and_is_left_clean(monkeypatch):
    monkeypatch.setattr(progress, "QUIET", 0.0)
    monkeypatch.setattr(progress, "PAUSE", 0.01)
    out = Terminal()
    with working(out):
        time.sleep(0.1)
    frames = out.getvalue().split(ERASE)
    assert frames[0] == frames[-1] == ""
    assert len(frames) > 3
    assert all(re.fullmatch(r"[⠀-⣿] \d+\.\d s", frame) for frame in frames[1:-1])


def test_a_quick_answer_and_a_pipe_show_nothing():
    for out in (Terminal(), io.StringIO()):
        with working(out):
            pass
        assert out.getvalue() == ""


def test_a_failure_passes_through(monkeypatch):
    monkeypatch.setattr(progress, "QUIET", 0.0)
    out = Terminal()
    try:
        with working(out):
            raise KeyError
    except KeyError:
        pass
    assert out.getvalue().endswith(ERASE) or out.getvalue() == ""
