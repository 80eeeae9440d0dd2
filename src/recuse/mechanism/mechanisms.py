"""The mechanisms by name: parameters for a query's shape, and the function that runs them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import cast

from recuse.errors import ParameterError
from recuse.krelation.relation import Growth, Shape
from recuse.mechanism import presets
from recuse.mechanism.answer import answer_at
from recuse.mechanism.parameters import Doublings, Exponent, Parameters
from recuse.mechanism.prepared import Prepared
from recuse.mechanism.recursive import noisy_bound
from recuse.mechanism.release import Release
from recuse.mechanism.selective import chosen_bound
from recuse.noise import Noise
from recuse.privacy import Epsilon
from recuse.solver.programs import Answers, Programs

NAMES = ("selective", "tuned", "paper")
DEFAULT = "selective"


def chosen(name: str, epsilon: Epsilon, shape: Shape | Growth) -> Parameters[Exponent | Doublings]:
    """Return the parameters of a mechanism: a function of its name, ε and the query's shape only."""
    if isinstance(shape, Growth) and name != DEFAULT:
        raise ParameterError(
            "an aggregated pattern is answered by one mechanism", found=name, accepted=DEFAULT
        )
    match name:
        case "selective":
            return presets.selective(epsilon, shape)
        case "tuned":
            return presets.tuned(epsilon)
        case "paper":
            return presets.paper(epsilon)
        case _:
            raise ParameterError("there is no such mechanism", found=name, accepted=", ".join(NAMES))


def run(prepared: Prepared, parameters: Parameters[Exponent | Doublings], noise: Noise) -> Release:
    """Return the private answer of a K-relation: τ by the rule that the parameters name, then X(τ).

    Guarantee: (ε1 + ε2)-private for every pair of neighbours in the sense of docs/proofs.md, theorem A
    (theorems R3, R5 and R6 there), whatever the solver returns within its certified intervals.
    """
    tau = choose(prepared.signs, parameters, noise)
    return answer_at(prepared, tau, parameters, noise)


def choose(
    programs: Sequence[Answers], parameters: Parameters[Exponent | Doublings], noise: Noise
) -> Fraction:
    """Return τ, ε1-privately, for relations that lose the same participants."""
    match parameters.rule:
        case Exponent():
            return noisy_bound(
                cast(Sequence[Programs], programs), cast(Parameters[Exponent], parameters), noise
            )
        case Doublings():
            return chosen_bound(programs, cast(Parameters[Doublings], parameters), noise)
