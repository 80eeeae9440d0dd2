"""The ledger under attack: many processes at once, and death at the worst moment.

Budgets that are read and then written are overspent by processes that do so at once; answers that are charged
after they are known are had for nothing by killing the process in between. (`tests/session/test_races.py` has
the long versions: a thousand questions at once, two hundred deaths at random.)
"""

from __future__ import annotations

import signal
from fractions import Fraction

from recuse.ledger import Ledger


def had_for_nothing(forking, folder, kind: str) -> list[str]:
    """Return the moments at which a process can die and have looked at data that nobody paid for."""
    found = []
    for line in forking("die", folder, kind):
        moment, looked, code, spent = line.split()
        assert (int(looked), int(code)) == (1, -signal.SIGKILL)
        if Fraction(spent) < Fraction(1, 2):
            found.append(moment)
    return found


def test_a_death_at_any_moment_leaves_the_charge(forking, tmp_path):
    assert had_for_nothing(forking, tmp_path, "HONEST") == []


def test_the_twin_that_charges_late_is_caught(forking, tmp_path):
    assert had_for_nothing(forking, tmp_path, "LATE") == ["look", "looked"]


def granted(forking, folder, kind: str) -> int:
    """Return how many questions were paid for from a budget of 32, when 64 were asked at once."""
    return sum(map(int, forking("race", folder, kind)[0].split()))


def test_a_race_is_granted_exactly_the_budget(forking, tmp_path):
    assert granted(forking, tmp_path, "HONEST") == 32
    assert Ledger.open(tmp_path / "race.ledger").balance().remaining == 0


def test_the_twin_without_a_lock_is_caught(forking, tmp_path):
    assert granted(forking, tmp_path, "UNLOCKED") > 32
