"""A process that asks and is done takes some processor time, and says so."""

from __future__ import annotations

from recuse.lab.experiments import start


def test_the_start_of_a_process_is_timed(capsys, monkeypatch, tmp_path):
    taken = iter([(5.0, 9.0), (0.3, 0.5), (0.1, 0.7), (0.2, 0.6)])
    monkeypatch.setattr(start, "first_answer", lambda _: next(taken))
    start.main(["--times", "3"])
    processor, wall = capsys.readouterr().out.splitlines()
    assert " ".join(processor.split()) == "processor least 0.10 s median 0.20 s largest 0.30 s"
    assert " ".join(wall.split()) == "wall least 0.50 s median 0.60 s largest 0.70 s"
    monkeypatch.undo()
    assert all(0.05 < seconds < 60 for seconds in start.first_answer(tmp_path))
    assert any(tmp_path.rglob("session*.pyc")), "what was compiled is kept"
