"""Rows with several owners: whoever can touch few groups pays more in each (priced withdrawals).

With m_κ the most groups that a participant of kind κ can touch and M the largest of them, κ pays M/m_κ times
τ in every group. So a participant moves all groups together by B = Mτ at most, in ℓ1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from recuse.krelation.encode import kinds_of
from recuse.krelation.prices import Prices
from recuse.krelation.relation import KRelation
from recuse.mechanism.grid import CellNoise, Grid
from recuse.mechanism.prepared import Prepared, prepare, truncated_difference
from recuse.mechanism.vector import ManhattanLaplace
from recuse.solver.interval import Interval, outward
from recuse.solver.programs import Programs, Solver, TruncationPrograms, with_index

PARTS = 8
"""prices are whole eighths of τ: exact in every arithmetic"""
STEPS_A_GROUP = 100
"""k' is at least this many steps a group, so that what certificates leave open adds up to a hundredth of B"""


@dataclass(frozen=True, slots=True)
class PriceList:
    """How many groups there are, and how many of them each kind of participant can touch: public."""

    groups: int
    touched: Mapping[str, int]

    @property
    def most(self) -> int:
        """M, the most groups that any participant can touch."""
        return max(self.touched.values(), default=1)

    @property
    def worthwhile(self) -> bool:
        """Whether some kind touches so few groups that ℓ1 is better than the hull: m ≤ (G+2)/3."""
        return any(3 * touched <= self.groups + 2 for touched in self.touched.values())

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(sorted(self.touched))

    def price(self, kind: str) -> Fraction:
        """Return M/m in whole eighths, rounded down: m of them are M at most."""
        return Fraction(PARTS * self.most // self.touched[kind], PARTS)

    def of(self, relation: KRelation) -> Prices:
        """Return what the participants of a relation pay."""
        table = tuple(map(self.price, self.kinds)) or (Fraction(1),)
        return Prices(table, kinds_of(relation.names, self.kinds))

    def steps(self) -> int:
        """Return how many steps of the grid τ has: a multiple of the parts of a price."""
        return PARTS * math.ceil(Fraction(STEPS_A_GROUP * self.groups, PARTS * self.most))


@dataclass(frozen=True, slots=True)
class PricedGroups:
    """`Releasable`: relations that share participants, of which each pays the price of its kind."""

    relations: Sequence[Prepared]
    list: PriceList

    theta = Fraction(1)
    lifted = False
    shared_out = False

    @property
    def signs(self) -> Sequence[TruncationPrograms]:
        most = max(map(self.list.price, self.list.kinds), default=Fraction(1))
        return [PerPrice(part, most) for one in self.relations for part in with_index(one.signs)]

    @property
    def constants(self) -> Sequence[int]:
        return [group.relation.constant for group in self.relations]

    def grid(self, tau: Fraction) -> Grid:
        """Return the grid of τ.

        Guarantee: with a participant more all groups together move by the sensitivity at most in ℓ1: Mk steps
        for what is withdrawn, k the steps of τ, and one a group (with signs two) for what certificates leave
        open (proofs.md, theorem E0').
        """
        steps = self.list.steps()
        loose = max((len(group.signs) for group in self.relations), default=1)
        sensitivity = self.list.most * steps + loose * len(self.relations)
        return Grid(tau / steps, sensitivity, below=loose + 1, above=loose)

    def noise(self, epsilon: Fraction, tau: Fraction, _: CellNoise) -> ManhattanLaplace:
        return ManhattanLaplace(epsilon, self.grid(tau).sensitivity, len(self.relations))

    def at(self, tau: Fraction) -> Sequence[int]:
        """Return the truncated answers on the grid, each certified to one of its steps."""
        steps = self.list.steps()
        slack, step = Fraction(1, steps), tau / steps
        return [math.ceil(truncated_difference(group, tau, slack) / step) for group in self.relations]


def priced(relations: Sequence[KRelation], prices: PriceList, solver: Solver) -> PricedGroups:
    """Return relations with programs that know what their participants pay."""
    return PricedGroups([prepare(one, solver, prices.of(one)) for one in relations], prices)


@dataclass(frozen=True, slots=True)
class PerPrice:
    """`Programs` whose X is divided by the largest price, so that nobody moves it by more than τ.

    It is what τ is chosen by: a deficit is about withdrawals that cost τ.
    """

    programs: Programs
    price: Fraction

    def largest_load(self) -> float:
        return self.programs.largest_load()

    def truncated(self, tau: float, width: float) -> Interval:
        if self.price == 1:
            return self.programs.truncated(tau, width)
        found = self.programs.truncated(tau, width)  # narrower than need be: what is divided is rounded
        return outward(Fraction(found.low) / self.price, Fraction(found.high) / self.price)

    def withdrawals(self, tau: float, width: float, stop_above: float = math.inf) -> Interval:
        return self.programs.withdrawals(tau, width, stop_above)

    def strict_withdrawals(self, tau: float, width: float, stop_above: float = math.inf) -> Interval:
        return self.programs.strict_withdrawals(tau, width, stop_above)

    def index(self, theta: float, beta: float, width: float) -> Interval:
        return self.programs.index(theta, beta, width)

    def integer_index(self, theta: Fraction, beta: Fraction, factor: int) -> int:
        return self.programs.integer_index(theta, beta, factor)
