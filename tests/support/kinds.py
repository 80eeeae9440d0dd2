"""Groups whose rows have owners of two kinds: a seller decides the first key, a buyer nothing."""

from __future__ import annotations

from hypothesis import strategies as st

from recuse.annotation import Participant, conjunction, disjunction
from recuse.krelation.build import from_expressions
from recuse.krelation.relation import KRelation, Shape
from recuse.mechanism.priced import PriceList

REGIONS, YEARS = 3, 2
GROUPS = [(region, year) for region in range(REGIONS) for year in range(YEARS)]
LIST = PriceList(len(GROUPS), {"buyer": len(GROUPS), "seller": YEARS})

Sale = tuple[int, int, int, int]
"""buyer, seller, year, weight: a seller sells in one region, its number modulo the regions"""

sales = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, YEARS - 1), st.integers(-9, 9)),
    max_size=14,
)


def groups(rows: list[Sale], *, signed: bool, either: bool = False) -> list[KRelation]:
    """Return the relation of every group; `either`: a row needs its seller and one of two buyers."""
    found = []
    for region, year in GROUPS:
        mine = [row for row in rows if (row[1] % REGIONS, row[2]) == (region, year)]
        pairs = [(_annotation(row, either), row[3] if signed else abs(row[3])) for row in mine if row[3]]
        shape = Shape.CLAUSES if either else Shape.CONJUNCTIONS
        found.append(from_expressions(pairs, shape, signed=signed))
    return found


def _annotation(row: Sale, either: bool):
    buyer, seller = Participant(("buyer", row[0])), Participant(("seller", row[1]))
    if not either:
        return conjunction(buyer, seller)
    other = Participant(("buyer", (row[0] + 1) % 4))
    return disjunction(conjunction(buyer, seller), conjunction(other, seller))


def leaves(rows: list[Sale], leaver: tuple[str, int]) -> list[Sale]:
    """Return the rows that stay when somebody leaves, where a row needs both of its owners."""
    place = 0 if leaver[0] == "buyer" else 1
    return [row for row in rows if row[place] != leaver[1]]


leavers = st.tuples(st.sampled_from(["buyer", "seller"]), st.integers(0, 4))
