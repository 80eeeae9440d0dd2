"""One settings file for one measurement: what was begun with one is not gone on with another."""

from __future__ import annotations

import pytest

from recuse.errors import ParameterError
from recuse.lab.experiments.race_report import RaceCell
from recuse.lab.experiments.race_settings import COMMITS, KEPT, USUAL, RaceSettings, begun, stated
from recuse.lab.experiments.signs import signed_sums


def test_a_folder_keeps_its_settings_and_the_commits_that_solved_for_it(tmp_path):
    found = begun(tmp_path)
    assert found == RaceSettings.read(tmp_path / KEPT) == RaceSettings.read()
    assert begun(tmp_path) == found
    assert len((tmp_path / COMMITS).read_text().split()) >= 1
    assert f"{found.runs:,} replays" in stated(tmp_path, found)


def test_other_settings_are_refused_where_tables_were_begun(tmp_path):
    begun(tmp_path)
    other = tmp_path / "other.toml"
    other.write_text(USUAL.read_text().replace("judged = 2", "judged = 3"))
    with pytest.raises(ParameterError, match="other settings"):
        begun(tmp_path, other)


@pytest.mark.parametrize(
    "text",
    ["runs = 1", 'runs = 1\nmost = 1\njudged = 1\n[epsilons]\ngraphs = ["-1"]'],
    ids=["a part", "a loss below zero"],
)
def test_half_a_file_is_refused(tmp_path, text):
    path = tmp_path / "half.toml"
    path.write_text(text)
    with pytest.raises(ParameterError):
        RaceSettings.read(path)


@pytest.mark.parametrize(("share", "narrow"), [(1.0, False), (0.95, False), (0.942, False), (0.93, True)])
def test_an_interval_is_too_narrow_where_chance_does_not_explain_it(share, narrow):
    cell = RaceCell("made", "node", "1", 0.01, {}, share, 1.0, 4000)
    assert cell.too_narrow() is narrow


def test_sums_with_signs_have_both(tmp_path):
    made = dict(signed_sums(2))
    assert len(made) == 16
    for name in ("balances 500 people spread 0.5", "rows without a partner 500 people"):
        relation = made[name]()
        assert relation.signed
        assert len(relation.positive)
        assert len(relation.negative)
