"""The mechanisms by name: each a function of ε and of the query's shape."""

from __future__ import annotations

from collections.abc import Callable

from recuse.errors import ParameterError
from recuse.krelation.relation import Growth, Shape
from recuse.mechanism import presets
from recuse.mechanism.foreknown import NOTHING, Foreknown
from recuse.mechanism.racing import Racing
from recuse.mechanism.truncating import Mechanism
from recuse.privacy import Epsilon

DEFAULT = "selective"

MechanismMaker = Callable[[Epsilon, Shape | Growth], Mechanism]


def _of_lists(make: Callable[[Epsilon], Mechanism]) -> MechanismMaker:
    """Return a maker that refuses what has no loads, choices and thresholds: it needs more than X(τ)."""

    def made(epsilon: Epsilon, shape: Shape | Growth) -> Mechanism:
        found = make(epsilon)
        if isinstance(shape, Growth):
            raise ParameterError("an aggregated pattern is answered by one mechanism", accepted=DEFAULT)
        if shape is Shape.THRESHOLDS:
            problem = "a question with a threshold (HAVING COUNT(*) >= 20) is answered by one mechanism"
            raise ParameterError(problem, accepted=DEFAULT)
        return found

    return made


MECHANISMS: dict[str, MechanismMaker] = {
    "selective": presets.selective,
    "split": presets.split,
    "tuned": _of_lists(presets.tuned),
    "paper": _of_lists(presets.paper),
}
NAMES = tuple(MECHANISMS)


def mechanism_for(
    name: str, epsilon: Epsilon, shape: Shape | Growth, known: Foreknown = NOTHING
) -> Mechanism:
    """Return the mechanism of a name: a function of its name, ε, the query's shape and what is public of it.

    What is `known` of loads steers the race, and no other mechanism.
    """
    if name not in MECHANISMS:
        raise ParameterError("there is no such mechanism", found=name, accepted=", ".join(MECHANISMS))
    found = MECHANISMS[name](epsilon, shape)
    return known.told(found) if isinstance(found, Racing) else found
