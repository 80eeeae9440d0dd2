"""The mechanisms by name: parameters for a query's shape, and the function that runs them."""

from __future__ import annotations

from typing import cast

from recuse.errors import ParameterError
from recuse.krelation.relation import Shape
from recuse.mechanism import presets
from recuse.mechanism.parameters import Doublings, Exponent, Parameters
from recuse.mechanism.prepared import Prepared
from recuse.mechanism.recursive import recursive
from recuse.mechanism.release import Release
from recuse.mechanism.selective import selective
from recuse.noise import Noise
from recuse.privacy import Epsilon

NAMES = ("selective", "tuned", "paper")
DEFAULT = "selective"


def chosen(name: str, epsilon: Epsilon, shape: Shape) -> Parameters[Exponent | Doublings]:
    """Return the parameters of a mechanism: a function of its name, ε and the query's shape only."""
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
    """Return the private answer by the rule that the parameters name.

    Guarantee: ε-private with ε = parameters.epsilon (docs/proofs.md, theorems R3, R5 and R6).
    """
    match parameters.rule:
        case Exponent():
            return recursive(prepared, cast(Parameters[Exponent], parameters), noise)
        case Doublings():
            return selective(prepared, cast(Parameters[Doublings], parameters), noise)
