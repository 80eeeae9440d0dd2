"""What a killed process spilled is swept away by the next, and nobody's who lives."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recuse.engines import spill
from recuse.engines.spill import HELD, spill_folder, sweep

HOLDS = """
import sys
from recuse.engines.spill import spill_folder
folder = spill_folder(sys.argv[1])
(folder.path / "rows").write_text("private")
print(folder.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that holds a folder with rows in it."""
    started = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    with started:
        yield started, Path(started.stdout.readline().strip())
        started.kill()


def test_what_a_killed_process_left_is_swept_away(tmp_path, holder):
    process, left = holder
    sweep(tmp_path)
    assert (left / "rows").exists(), "its process lives"
    process.kill()
    process.wait()
    assert (left / "rows").exists(), "a killed process removes nothing"
    mine = spill_folder(str(tmp_path))
    assert not left.exists()
    assert mine.path.exists()
    mine.remove()
    mine.remove()
    assert not mine.path.exists()


def test_the_twin_that_asks_for_no_lock_deletes_what_is_held(tmp_path, holder, monkeypatch):
    class NoLocks:
        LOCK_EX = LOCK_NB = 0
        flock = staticmethod(lambda *_: None)

    _, left = holder
    monkeypatch.setattr(spill, "fcntl", NoLocks)
    sweep(tmp_path)
    assert not left.exists()


def test_folders_of_others_stay(tmp_path, monkeypatch):
    """One without a lock, one of another machine, one that is a link, one of another name, another user's."""
    other, elsewhere, theirs = (tmp_path / name for name in ("recuse-a", "recuse-b", "recuse-c"))
    for folder in (other, elsewhere, theirs, tmp_path / "target", tmp_path / "else"):
        folder.mkdir()
    (elsewhere / HELD).write_bytes(b"another machine")
    for folder in (tmp_path / "target", tmp_path / "else"):
        (folder / HELD).write_bytes(spill._machine())
    (tmp_path / "recuse-link").symlink_to(tmp_path / "target")
    sweep(tmp_path)
    (theirs / HELD).write_bytes(spill._machine())
    with monkeypatch.context() as patch:
        patch.setattr("os.getuid", lambda: -1)
        sweep(tmp_path)
    assert len(list(tmp_path.iterdir())) == 6
    sweep(tmp_path)
    assert not theirs.exists(), "this one is ours"


def test_where_nothing_can_be_locked_nothing_is_swept(tmp_path, monkeypatch):
    class Absent:
        def __getattr__(self, name: str) -> object:
            raise ModuleNotFoundError(name)

    monkeypatch.setattr(spill, "fcntl", Absent())
    folder = spill_folder(str(tmp_path))
    assert folder.lock is None
    sweep(tmp_path)
    assert folder.path.exists()
    folder.remove()
    sweep(tmp_path / "nowhere")
