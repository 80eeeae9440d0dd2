"""How the ε of an SQL question is divided among what it releases: public, before anything is read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from recuse.engines.collect import (
    GroupDomain,
)
from recuse.errors import QueryError
from recuse.mechanism.foreknown import Foreknown
from recuse.mechanism.mechanisms import mechanism_for
from recuse.mechanism.priced import PriceList
from recuse.privacy import Delta, Epsilon
from recuse.session.question import Part
from recuse.sql.ends import FIND_SHARES, RANGE_SHARE
from recuse.sql.grouping import MAX_GROUPS
from recuse.sql.plan import DerivationQuery, Plan
from recuse.sql.sharing import Sharing


@dataclass(frozen=True, slots=True)
class Split:
    """The ε of each measure: of a scalar that is released first, of an end of a key, of the question itself.

    Measures of rows that nobody owns cost nothing, and have no share.
    """

    scalar: Fraction
    end: Fraction
    finding: Fraction
    rest: Fraction

    @classmethod
    def of(cls, plan: Plan, loss: Epsilon) -> Self:
        """Return how a loss is split: it follows from the plan alone.

        Guarantee: the shares of all measures add up to the loss.
        """
        asked = [(first.end, measure) for first in plan.firsts for measure in first.plan.measures]
        ends = sum(measure.is_owned for end, measure in asked if end)
        scalars = sum(measure.is_owned for end, measure in asked if not end)
        rest = sum(measure.is_owned for measure in plan.measures)
        first = plan.first_share if scalars and rest else Fraction(1 if scalars else 0)
        second = RANGE_SHARE if ends else Fraction(0)
        third = Fraction(0) if plan.finding is None else FIND_SHARES[plan.finding.sharing]
        left = 1 - second - third
        shares = (first * left, second, third, (1 - first) * left)
        counts = (scalars, ends, 1, rest)
        return cls(*(loss.value * s / max(count, 1) for s, count in zip(shares, counts, strict=True)))


def refuse_delta(plan: Plan, loss: Epsilon, delta: Delta | None) -> None:
    """Refuse a question whose keys are found among private rows without δ, or any other one with it."""
    if plan.finding is None and delta is not None:
        raise QueryError(
            "no key of this question is found with delta",
            hint="leave delta out: its groups are known, or lie between ends that epsilon pays for",
        )
    if plan.finding is None:
        return
    if delta is None:
        raise QueryError(
            "the groups of this question are found among private rows, which costs delta",
            accepted="a delta besides epsilon, such as 1e-6",
            hint="ask with delta = 1e-6, or list the groups: WHERE key IN (…)",
        )
    if delta.value > min(Fraction(1), Split.of(plan, loss).finding) / 4:
        raise QueryError(
            "delta is too large beside epsilon", found=str(delta), hint="ask with a smaller delta: 1e-6"
        )


def refuse_thin_shares(plan: Plan, domain: GroupDomain, split: Split) -> None:
    """Refuse an ε of which a part may be too small once groups are known: after the charge it is too late."""
    if plan.finding is not None:
        Epsilon(split.finding)
    if plan.finding is not None or domain.is_open:
        for measure in plan.measures:
            if measure.is_owned:
                Epsilon(split.rest / (MAX_GROUPS if is_one_by_one(measure) else 1))


def parts_of(plan: Plan, domain: GroupDomain, share: Fraction, mechanism: str) -> tuple[Part, ...]:
    return tuple(
        Part(
            mechanism_for(
                mechanism, Epsilon(share / shared(measure, domain)), measure.shape, foreknown(measure)
            )
            if measure.is_owned
            else None,
            measure.granularity,
            counted=measure.aggregate.whole,
        )
        for measure in plan.measures
    )


def foreknown(measure: DerivationQuery) -> Foreknown:
    """Return what is public of the loads of a measure."""
    return Foreknown(bound_of(measure), measure.typical / measure.granularity, measure.single)


def bound_of(measure: DerivationQuery) -> int | None:
    """Return the public bound on what a participant has in one group; of vectors it says nothing."""
    return measure.bound if measure.sharing is Sharing.SIDE_BY_SIDE else None


def shared(measure: DerivationQuery, domain: GroupDomain) -> int:
    """Return into how many parts the ε of a measure is split before its mechanism is made.

    Answers that are one of the rows' values are released one by one: a participant is paid for in every group
    that one can touch.
    """
    return price_list(measure, domain).most if is_one_by_one(measure) else 1


def is_one_by_one(measure: DerivationQuery) -> bool:
    """Return whether groups that may share participants are answered one by one, each for its own ε."""
    return measure.aggregate.placed and measure.sharing is Sharing.TOGETHER


def price_list(measure: DerivationQuery, domain: GroupDomain) -> PriceList:
    """Return how many groups each kind of participant can touch."""
    keys = domain.of_set(measure.place).keys
    return PriceList(len(keys), {touch.kind: touch.most(keys) for touch in measure.touches})
