"""`Statistics`: what is known of tables without looking: how many rows, how many a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from recuse.errors import ParameterError, StatisticsError
from recuse.fold import same
from recuse.privacy import NumberLike, exact

StatedNumber = TypeVar("StatedNumber", int, NumberLike)
MOST_ROWS = 10_000_000


@dataclass(frozen=True, slots=True)
class Statistics:
    """What the user states of a database: rows of each table (or kind), and the largest fan-out of its links.

    `largest["orders"]` is how many orders link to the customer with the most, by any of their links; the
    others have fewer and fewer: by a power of their rank, or as chance has it within 5 times the mean. Where
    nothing is stated, ten times the mean is assumed, and the estimate says so. Of a column by which rows are
    joined, `largest["visit.doctor"]` is how many rows share one value, and `rows["visit.doctor"]` how many
    values there are. Of a column with decimal places `largest["orders.price"]` is how much of it the rows
    that link to one row have together, at most. `typical["orders.price"]` is about how large one number is,
    in place of what the policy says ([[typical]]).
    """

    rows: Mapping[str, int]
    largest: Mapping[str, int] = field(default_factory=dict)
    typical: Mapping[str, NumberLike] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, size in self.typical.items():
            if exact(size, name=f"the typical size of {name}") <= 0:
                raise ParameterError(
                    "a size is above 0", found=f"{name}: {size}", accepted="typical={'orders.price': 50}"
                )
        for numbers in (self.rows, self.largest):
            for name, number in numbers.items():
                if not 0 < number <= MOST_ROWS:
                    raise ParameterError(
                        f"the statistic of {name} is out of range",
                        found=str(number),
                        accepted=f"1 to {MOST_ROWS:,}",
                    )

    def rows_of(self, name: str) -> int:
        """Return the rows of a table or the participants of a kind, which must be stated."""
        found = stated_of(self.rows, name)
        if found is None:
            raise StatisticsError(f"how many rows has {name}?", hint=f"state it: rows={{'{name}': 1000}}")
        return found


def stated_of(numbers: Mapping[str, StatedNumber], name: str) -> StatedNumber | None:
    return next((number for given, number in numbers.items() if same(given, name)), None)
