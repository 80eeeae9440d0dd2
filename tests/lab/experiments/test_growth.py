"""Time over rows is printed, and how steep it is."""

from __future__ import annotations

from recuse.lab.experiments import growth


def test_the_slope_is_that_of_logarithms(capsys, monkeypatch):
    monkeypatch.setattr(growth, "measured", lambda rows, *_: (0.0, rows**1.5))
    growth.main(["--rows", "100", "10000"])
    assert capsys.readouterr().out.splitlines()[-1] == "slope 1.50"


def test_rows_that_stay_are_counted():
    plain, private = growth.measured(2**12, "200MB", 1)
    assert plain >= 0
    assert private > 0
