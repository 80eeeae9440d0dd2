"""The folder of an empty PostgreSQL: one that a killed server left behind is thrown away, others are not."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

from recuse.server.postgres.empty import PREFIX, SOCKET, sweep


def test_what_a_killed_server_left_behind_is_thrown_away(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left, own, other = (tmp_path / f"{PREFIX}{number}-x" for number in (ended.pid, os.getpid(), "few"))
    foreign = tmp_path / f"{PREFIX}{ended.pid}-y"
    for folder in (left, own, other, foreign):
        (folder / "data").mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as answering:  # of a container that has other process numbers
        answering.bind(str(foreign / SOCKET))
        answering.listen()
        sweep()
    assert sorted(tmp_path.iterdir()) == sorted([own, other, foreign])
