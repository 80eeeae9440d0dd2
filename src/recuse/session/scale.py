"""Whether an answer can be told from nothing: before the charge by what is public, after it by the cut.

A sum of values that are large against a granule needs many people, or a large ε: each step from a granule up
to what people have costs some of what ε and their number allow (`Levels.prior`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from recuse.mechanism.racing import Racing
from recuse.numerals import brief
from recuse.privacy import decimal_text
from recuse.session.question import Part, Releases
from recuse.sql.formula import measures_in
from recuse.sql.plan import DerivationQuery, Plan
from recuse.sql.sharing import Sharing

People = Callable[[str], int | None]
"""returns how many participants of a kind there are, if that is stated"""
SURE = 3.0
"""how far a level's score lies above another's, in natural logarithms, where it wins nine times of ten"""
FEW_ROWS = 4
"""how many typical rows a participant is taken to have"""
UNSAID = 1_000
"""how many times a granule's unit values may be where nobody says how large they are"""

MANY_SPARED = 50
"""from how many people on it is said that groups truncate them: twelve groups at ε = 0.1, 70 at ε = 1"""


class FewPeopleWarning(UserWarning):
    """A question that will be lost to truncation: there are too few people for its ε."""


def cut_cautions(plan: Plan, releases: Releases) -> Iterator[str]:
    """Yield which columns lost nearly all to truncation: everybody was cut to less than one value.

    Guarantee: post-processing of what was released: τ is a part of it (proofs.md, theorem R).
    """
    for place, (measure, found) in enumerate(zip(plan.measures, releases, strict=True)):
        cuts = [one.cut for one in found if one.cut is not None]
        if not cuts or not measure.aggregate.weighed or min(cuts) >= measure.typical:
            continue
        ends = [one.interval for one in found]
        wide = max((high - low for low, high in ends if low is not None and high is not None), default=0)
        least, noise = brief(min(cuts), 2), brief(Fraction(wide) / 2, 2)
        beside = f"and one value is about {brief(measure.typical, 2)}" if measure.sized else "which is little"
        yield (
            f"{_columns(plan, place)}: what anybody has beyond {least} was cut off, {beside}, "
            f"and noise alone explains {noise}. {_remedy(measure)}"
        )


def spared_cautions(plan: Plan, parts: Sequence[Part], releases: Releases) -> Iterator[str]:
    """Yield which columns have so many groups that people are truncated for less noise (theorem R11).

    Guarantee: how many follows from ε and the number of groups, where they are cut from τ, which is released.
    """
    for place, (measure, part, found) in enumerate(zip(plan.measures, parts, releases, strict=True)):
        if measure.sharing is not Sharing.ONE_OWNER or not isinstance(part.mechanism, Racing):
            continue
        spared, cuts = part.mechanism.sparing(len(found)), [one.cut for one in found if one.cut is not None]
        if spared >= MANY_SPARED and cuts:
            least, many = brief(min(cuts), 2), brief(spared, 2)
            yield (
                f"{_columns(plan, place)}: what anybody has beyond {least} in all groups together was scaled "
                f"down, of about {many} people at most, as {len(found):,} groups would else have more noise: "
                "groups in which such people have much are too small, the largest most. "
                "Ask for fewer groups, or raise epsilon"
            )


def _columns(plan: Plan, place: int) -> str:
    """Return the names of the columns that a measure is a part of."""
    named = [shown.name for shown in plan.columns if place % plan.each in measures_in(shown.what)]
    return ", ".join(named) or "a number that is not shown"


def _remedy(measure: DerivationQuery) -> str:
    if measure.sized or not measure.aggregate.weighed:
        return "Raise epsilon"
    return "Raise epsilon, or say in the policy how large values are ([[typical]])"


def too_few(plan: Plan, parts: Sequence[Part], people: People, groups: int) -> Iterator[str]:
    """Yield which columns will be lost to truncation, as there are too few people for ε and the granularity.

    Guarantee: it follows from the question, the policy and ε; no row is read.
    """
    for place, (measure, part) in enumerate(zip(plan.measures, parts, strict=True)):
        kinds = {owner.kind for table in measure.tables for owner in table.owners}
        known = [count for count in map(people, kinds) if count is not None]
        if not known or not isinstance(part.mechanism, Racing):
            continue
        cells = groups if measure.sharing is Sharing.ONE_OWNER else 1
        most = reached(part.mechanism, min(known), cells) * measure.granularity
        wanted = measure.typical * (FEW_ROWS if measure.sized or not measure.aggregate.weighed else UNSAID)
        if most < wanted:
            share, count = decimal_text(part.mechanism.epsilon), min(known)
            each = f"what anybody has beyond about {brief(most, 2)} is cut off" if most else "nothing is left"
            few = f"with about {count:,} people and epsilon {share} for it, {each}"
            yield f"{_columns(plan, place)}: {few}. {_remedy(measure)}"


def reached(race: Racing, people: int, cells: int = 1) -> Fraction:
    """Return the largest τ that a race reaches if everybody has that much; of one cell 0 if it reaches none.

    At a τ that is too small all people are in the way but those whom `cells` that share out what they bring
    spare, and weigh against what higher levels cost. Many cells have the least τ rather than none.
    """
    rule, heard = race.levels, max(Fraction(0), people - race.sparing(cells))
    weight = float(race.dial(cells).whole().choice * race.epsilon / rule.moves() * heard) - SURE
    levels = rule.ladder.levels
    least = rule.prior(levels[0])
    good = [k for k in levels if float(rule.prior(k) - least) * math.log(2) <= weight]
    if not good:
        return rule.ladder.tau(levels[0]) if cells > 1 else Fraction(0)
    return rule.ladder.tau(good[-1])
