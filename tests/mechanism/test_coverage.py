"""The interval holds X(τ) with 95 % at least: its exact coverage to forty digits, lift and slack included."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from recuse.mechanism import presets
from recuse.mechanism.answer import noisy_answer
from recuse.mechanism.cell import Laplace, Staircase
from recuse.mechanism.grid import GridNoise
from recuse.mechanism.parameters import ANSWER_GRID, SLACK
from recuse.mechanism.release import CONFIDENCE, Release
from recuse.mechanism.selective import Selective
from recuse.mechanism.truncating import Truncating
from recuse.noise import low_part
from recuse.privacy import Epsilon

EPSILONS = ["0.01", "0.05", "0.1", "0.5", "1", "2"]
RULES = {
    "withdrawals": presets.by_withdrawals,
    "deficit": presets.by_deficit,
    "tuned": presets.tuned,
    "paper": presets.paper,
}
TAU = Fraction(8)
STEP = TAU / ANSWER_GRID
TRUTH = 1000 * TAU
MOST = Decimal("0.9525")
"""At larger ε an interval of whole grid steps, widened by the slack, must hold a little more."""


def exp(x: Fraction) -> Decimal:
    return (Decimal(x.numerator) / Decimal(x.denominator)).exp()


def beyond(noise: GridNoise, q: int) -> Decimal:
    """Return P(i > q) exactly (to the digits of the context), q an integer of any sign."""
    if q < 0:
        return 1 - beyond(noise, -q - 1)
    match noise:
        case Laplace(epsilon, sensitivity):
            a = exp(-epsilon / sensitivity)
            return a ** (q + 1) / (1 + a)
        case Staircase(epsilon, sensitivity):
            low, fall = low_part(epsilon, sensitivity), exp(-epsilon)
            step = low + (sensitivity - low) * fall
            whole, place = divmod(q + 1, sensitivity)
            left = max(0, low - place) + (sensitivity - max(low, place)) * fall
            side = step / (1 - fall)
            return fall**whole * (left + fall * side) / (2 * side - 1)
    raise AssertionError(noise)


def released(
    monkeypatch: pytest.MonkeyPatch,
    parameters: Truncating,
    truncated: Fraction,
    slack: Fraction,
    lift: Fraction,
) -> tuple[Release, GridNoise]:
    """Return the release without noise, and the noise that would have been added."""
    asked: list[GridNoise] = []

    def draw(self: GridNoise, _: object) -> list[int]:
        asked.append(self)
        return [0]

    for kind in (Laplace, Staircase):
        monkeypatch.setattr(kind, "draw", draw)
    found = noisy_answer(truncated, TAU, slack, Fraction(0), parameters, None, lift)  # type: ignore[arg-type]
    return found, asked[0]


def coverage(found: Release, noise: GridNoise, truth: Fraction) -> Decimal:
    """Return P(low + iγ ≤ truth ≤ high + iγ) over the noise i, the release being that of i = 0."""
    low, high = found.interval
    least, most = -((high - truth) // STEP), (truth - low) // STEP
    return beyond(noise, least - 1) - beyond(noise, most)


def worst(monkeypatch: pytest.MonkeyPatch, parameters: Truncating, slack: Fraction) -> Decimal:
    """Return the least coverage over what a certificate and the place on the grid may make of X(τ)."""
    offset = parameters.offset if isinstance(parameters, Selective) and slack == SLACK else 0
    lift = Fraction(offset) * TAU / parameters.epsilon
    least = Decimal(1)
    for error in (0, SLACK / 3, SLACK) if slack == SLACK else (-SLACK, 0, SLACK):
        for place in (Fraction(0), Fraction(1, 10**9), Fraction(1, 2), 1 - Fraction(1, 10**9)):
            truth = TRUTH + place * STEP
            found, noise = released(monkeypatch, parameters, truth + error * TAU, slack, lift)
            least = min(least, coverage(found, noise, truth))
    return least


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("slack", [SLACK, 2 * SLACK], ids=["count", "sum"])
def test_the_interval_holds_the_truncated_answer_with_95_percent_at_least(monkeypatch, rule, epsilon, slack):
    """Lemma I."""
    with localcontext() as context:
        context.prec = 40
        found = worst(monkeypatch, RULES[rule](Epsilon.of(epsilon)), slack)
    assert Decimal("0.95") <= found <= MOST


@pytest.mark.parametrize("epsilon", ["0.01", "0.05", "0.1"])
def test_an_interval_around_the_lifted_answer_would_hold_less(monkeypatch, epsilon):
    """The broken twin, as it was: 94.87 %."""
    parameters = presets.by_withdrawals(Epsilon.of(epsilon))
    lift = parameters.offset * TAU / parameters.epsilon
    with localcontext() as context:
        context.prec = 40
        found, noise = released(monkeypatch, parameters, TRUTH, SLACK, lift)
        reach = noise.reach(CONFIDENCE) * STEP
        around = replace(found, interval=(found.value - reach, found.value + reach))
        assert round(100 * coverage(around, noise, TRUTH), 2) == Decimal("94.87")


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_answer_lies_in_its_interval(monkeypatch, epsilon):
    parameters = presets.by_withdrawals(Epsilon.of(epsilon))
    lift = parameters.offset * TAU / parameters.epsilon
    found, _ = released(monkeypatch, parameters, TRUTH, SLACK, lift)
    assert found.interval[0] < found.value < found.interval[1]


@pytest.mark.parametrize("noise", [Laplace(Fraction(1, 3), 7), Staircase(Fraction(1, 3), 7)])
def test_the_tails_are_those_of_the_noise(noise):
    """The judge is judged: tails add up from the probabilities themselves."""

    def weight(i: int) -> Decimal:
        if isinstance(noise, Laplace):
            return exp(-noise.epsilon * abs(i) / noise.sensitivity)
        level = abs(i) // 7 + (abs(i) % 7 >= low_part(noise.epsilon, 7))
        return exp(-noise.epsilon * level)

    with localcontext() as context:
        context.prec = 40
        weights = {i: weight(i) for i in range(-2500, 2501)}
        total = sum(weights.values())
        for q in (-30, -1, 0, 1, 5, 6, 7, 8, 40):
            tail = sum((w for i, w in weights.items() if i > q), Decimal(0)) / total
            assert abs(beyond(noise, q) - tail) < Decimal("1e-20")
