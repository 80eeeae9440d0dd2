"""The race: one noise for the choice of τ and for the answer, so that each has the whole of ε.

The answer's noise of every level is drawn before the choice, and helps its level by what it will cost the
answer. The winner's answer is released with the very noise that helped it to win.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby

from recuse.errors import ParameterError
from recuse.mechanism.answer import Noised
from recuse.mechanism.cell import Staircase
from recuse.mechanism.grid import CellNoise, Entries, GridNoise, Releasable
from recuse.mechanism.levels import Levels, beyond
from recuse.mechanism.prepared import Prepared
from recuse.mechanism.reach import USUAL, at_any_level, of_winner
from recuse.mechanism.release import Release
from recuse.mechanism.selection import noisy_maximum
from recuse.mechanism.selective import Selective
from recuse.mechanism.truncating import Choosing
from recuse.noise import Noise


@dataclass(frozen=True, slots=True)
class Dial:
    """How much noise takes part in the choice: a public function of the number of cells.

    `answer` is the part of ε that the noise has by itself, `boost` the part of a noise's level that helps it.
    (1, 1) is the race, boost 0 an ε that is split.
    """

    answer: Fraction
    boost: Fraction

    def __post_init__(self) -> None:
        if not (0 < self.answer <= 1 and 0 <= self.boost <= 1 and self.choice > 0):
            raise ParameterError("a dial's parts are of one epsilon")

    @property
    def choice(self) -> Fraction:
        """What a penalty weighs, as a part of ε: 1 - (1-ρ)ε_a/ε."""
        return 1 - (1 - self.boost) * self.answer

    def whole(self) -> Dial:
        """Return the dial at which noise that takes part has all of ε."""
        return Dial(Fraction(1), self.boost) if self.boost else self


@dataclass(frozen=True, slots=True)
class Racing:
    """A `Mechanism`: the level that wins a race in which its own noise takes part.

    `offset` moves the answer of a level above the first up by that many τ/ε, against the downward bias of
    truncation. `split` is for sums of what is drawn first, `picking` for answers that are one of the values.
    `spared` times 1/ε is how many participants a cell beyond the first may truncate for nothing, where cells
    share out what one brings.
    """

    name: str
    epsilon: Fraction
    levels: Levels
    offset: Fraction
    dials: tuple[tuple[int, Dial], ...]
    split: Selective
    picking: Selective
    cell: CellNoise = Staircase
    spared: Fraction = Fraction(0)

    def within(self, bound: int) -> Racing:
        """Return the race for loads that are at most a public number; with 1 nothing is chosen.

        Guarantee: private whether or not they are (proofs.md, theorem R0).
        """
        first = max(0, self.levels.ladder.first) if bound == 1 else self.levels.ladder.first
        ladder = replace(self.levels.ladder, first=first, bound=Fraction(bound))
        return replace(self, levels=replace(self.levels, ladder=ladder))

    def dial(self, cells: int) -> Dial:
        """Return the dial for so many cells: of the last entry that asks for no more."""
        return self.dials[bisect_right([least for least, _ in self.dials], cells) - 1][1]

    def dial_of(self, subject: Releasable) -> Dial:
        """Return the dial for a form of release: public."""
        found = self.dial(len(subject.constants))
        return found.whole() if subject.shared_out else found

    def sparing(self, cells: int) -> Fraction:
        """Return how many participants so many cells truncate for nothing, if they share them out: public."""
        return self.spared * (cells - 1) / self.epsilon

    def release(self, subject: Prepared, noise: Noise) -> Release:
        """Return the private answer of a relation."""
        (found,) = self.release_cells(subject, noise)
        return found

    def release_cells(self, subject: Releasable, noise: Noise) -> list[Release]:
        """Return the private answers of all cells of a subject, for one ε in all.

        Guarantee: ε-private for every pair of neighbours in the sense of proofs.md, theorem A (theorem R
        there), if `subject.at` is a function of the rows as a set and of τ alone. Whom a penalty spares
        follows from the number of cells (theorem R11).
        """
        dial, ladder = self.dial_of(subject), replace(self.levels.ladder, theta=subject.theta)
        rule = replace(self.levels, ladder=ladder)
        share = dial.answer * self.epsilon
        noises = [subject.noise(share, tau, self.cell) for tau in ladder.taus]
        entrants = enter(noises, dial.boost, noise)
        boosts = [entrant.boost for entrant in entrants]
        top = rule.top(subject.signs)
        spared = self.sparing(len(subject.constants)) if subject.shared_out else Fraction(0)
        weight, penalty = dial.choice * self.epsilon / rule.moves(), rule.penalty(subject.signs, top)
        penalty = beyond(penalty, spared) if spared else penalty
        winner = noisy_maximum(rule, ladder.levels, top, weight, penalty, noise, boosts)
        tau, entrant = ladder.tau(winner), entrants[winner - ladder.first]
        places = [place + drawn for place, drawn in zip(subject.at(tau), entrant.point(noise), strict=True)]
        reaches = self.reaches(subject, rule, winner, entrant.noise)
        found = Noised(tau, subject.grid(tau), places, entrant.noise, reaches)
        lift = self.offset * tau / self.epsilon if subject.lifted and winner > 0 else Fraction(0)
        return found.releases(subject.constants, lift, self)

    def reaches(self, subject: Releasable, rule: Levels, winner: int, added: GridNoise) -> Sequence[int]:
        """Return how far the noise of the level that won lies from zero at most, in every cell.

        Of few cells by what may fail at any level. Of many by the noise that a winner has if it needed all
        of its boost: the same one with a smaller ε, whichever level it is. Which of the two is public.

        Guarantee: with 95 % each (proofs.md, lemma I3; of many lemma I4).
        """
        ladder, cells = rule.ladder, len(subject.constants)
        whole, dial = added.epsilon, self.dial_of(subject)
        usual = at_any_level(ladder.levels, min(rule.start + USUAL, ladder.levels[-1]), rule.start)
        left, sure = (1 - dial.boost) * whole, of_winner(dial.choice * self.epsilon)

        def noise(epsilon: Fraction, tau: Fraction) -> GridNoise:
            return subject.noise(epsilon, tau, self.cell)

        first = ladder.taus[0]
        if cells == 1 or noise(whole, first).reach(usual) <= noise(left, first).reach(sure):
            return added.reaches(at_any_level(ladder.levels, winner, rule.start))
        return noise(left, ladder.tau(winner)).reaches(sure)

    def in_two_steps(self) -> Choosing:
        """Return the mechanism that splits ε."""
        return self.split

    def before_picking(self) -> Choosing:
        """Return the mechanism that spends little on τ."""
        return self.picking


@dataclass(frozen=True, slots=True)
class Entrant:
    """A level's noise in the race: one of several draws of which the sizes are known.

    It helps its level by `boost`, a part of what an answer with this noise costs, ε times its level.
    """

    noise: GridNoise
    entries: Entries
    place: int
    boost: Fraction

    def point(self, noise: Noise) -> Sequence[int]:
        """Return the noise itself."""
        return self.entries.point(self.place, noise)


def enter(noises: Sequence[GridNoise], part: Fraction, noise: Noise) -> list[Entrant]:
    """Return a draw of each noise, boosted by a part of its cost; those that are equal are drawn together."""
    found: list[Entrant] = []
    for added, alike in groupby(noises):
        entries = added.entries(sum(1 for _ in alike), noise)
        sizes = entries.sizes.tolist()
        each = part * added.epsilon / added.parts
        boosts = {size: each * size for size in set(sizes)}  # of a thousand levels few sizes
        found += [Entrant(added, entries, place, boosts[size]) for place, size in enumerate(sizes)]
    return found
