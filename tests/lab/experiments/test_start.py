"""A process that asks and is done takes some processor time, and says so."""

from __future__ import annotations

from recuse.lab.experiments import start


def test_the_start_of_a_process_is_timed(capsys, monkeypatch):
    taken = iter([5.0, 0.3, 0.1, 0.2])
    monkeypatch.setattr(start, "first_answer", lambda: next(taken))
    start.main(["--times", "3"])
    assert "".join(capsys.readouterr().out.split()) == "least0.10smedian0.20slargest0.30s"
    monkeypatch.undo()
    assert 0.05 < start.first_answer() < 20
