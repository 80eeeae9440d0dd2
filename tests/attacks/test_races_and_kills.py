"""The ledger under attack: many processes at once, and death at the worst moment.

Budgets that are read and then written are overspent by processes that do so at once; answers that are charged
after they are known are had for nothing by killing the process in between. (`tests/session/test_races.py` has
the long versions: a thousand questions at once, two hundred deaths at random.)
"""

from __future__ import annotations

import signal
from fractions import Fraction

import pytest

from recuse.ledger import Ledger

MOMENTS = ("look", "looked", "store", "stored")


def had_for_nothing(forking, folder, moment: str, kind: str) -> bool:
    """Return whether a process that dies at the moment has looked at data that nobody paid for."""
    folder.mkdir()
    looked, code = forking("die", folder, moment, kind)
    assert (int(looked), int(code)) == (1, -signal.SIGKILL)
    return Ledger.open(folder / "shop.duckdb.ledger").balance().spent < Fraction(1, 2)


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_death_leaves_the_charge(forking, tmp_path, moment):
    assert not had_for_nothing(forking, tmp_path / moment, moment, "HONEST")


def test_the_twin_that_charges_late_is_caught(forking, tmp_path):
    assert had_for_nothing(forking, tmp_path / "late", "looked", "LATE")


def granted(forking, folder, kind: str) -> int:
    """Return how many questions were paid for from a budget of 32, when 64 were asked at once."""
    return sum(map(int, forking("race", folder, kind)[0].split()))


def test_a_race_is_granted_exactly_the_budget(forking, tmp_path):
    assert granted(forking, tmp_path, "HONEST") == 32
    assert Ledger.open(tmp_path / "race.ledger").balance().remaining == 0


def test_the_twin_without_a_lock_is_caught(forking, tmp_path):
    assert granted(forking, tmp_path, "UNLOCKED") > 32
