"""The experiment with groups: every form has its name, and an oracle that is no worse than any τ."""

from __future__ import annotations

from fractions import Fraction

import pytest

from recuse.lab.experiments.groups import form_of, oracle
from recuse.mechanism.groups import SideBySide, Together
from recuse.mechanism.hull import HullGroups
from recuse.mechanism.prepared import prepare
from recuse.mechanism.priced import priced
from recuse.solver.fast import fast_programs
from support.kinds import LIST, groups

ROWS = [(buyer, seller, year, 1) for buyer in range(4) for seller in range(5) for year in range(2)]


def forms(*, signed=False):
    found = groups(ROWS, signed=signed)
    each = [prepare(one, fast_programs) for one in found]
    return {
        "side by side": SideBySide(each),
        "cube" if signed else "hull": Together(HullGroups(each)),
        "priced": Together(priced(found, LIST, fast_programs)),
    }


@pytest.mark.parametrize("signed", [False, True])
def test_forms_have_names(signed):
    for name, form in forms(signed=signed).items():
        assert form_of(form) == name


def test_the_oracle_is_off_by_less_with_more_epsilon_and_never_by_more_than_everything():
    for form in forms().values():
        truth = [int(answer) for answer in form.true_answers()]
        errors = [oracle(form, truth, Fraction(epsilon)) for epsilon in (1, 4, 100)]
        assert errors == sorted(errors, reverse=True)
        assert errors[-1] < 1
