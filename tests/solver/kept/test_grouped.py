"""Groups whose rows stay in an engine: each as if it were alone, and vectors that move as they may."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.engines.duckdb_kept import DuckDBWarehouse
from recuse.krelation.contributions import Contributions
from recuse.mechanism.clipped import clipped, clipping_grid
from recuse.solver.kept.grouped import KeptVectors
from recuse.solver.kept.programs import kept_programs
from recuse.solver.kept.relation import KeptRelation
from recuse.solver.reference import reference
from support.kept import CONNECTION
from support.profiles import examples

GROUPS = 3
TAUS = [Fraction(1, 7), Fraction(1), Fraction(4), Fraction(37, 5), Fraction(2**40)]
WAREHOUSE = DuckDBWarehouse(CONNECTION)
OWNER, PAIR = (("a", ("owner",)),), (("a", ("owner",)), ("a", ("other",)))

people = st.integers(0, 4)
rows = st.lists(st.tuples(people, st.integers(0, GROUPS - 1), st.integers(-40, 40)), max_size=12)
pairs = st.lists(
    st.tuples(people, people, st.integers(0, GROUPS - 1), st.integers(-9, 40)), min_size=1, max_size=14
)


def table(names: str, rows) -> str:
    columns = dict(zip(names.split(), zip(*rows, strict=True), strict=True)) if rows else {}
    arrays = {name: pyarrow.array(columns.get(name, ()), pyarrow.int64()) for name in names.split()}
    WAREHOUSE.connection.register("made rows", pyarrow.table(arrays))
    return WAREHOUSE.keep('SELECT * FROM "made rows"')


def vectors(rows) -> KeptVectors:
    return KeptVectors.of(WAREHOUSE, table("owner place weight", rows), OWNER, GROUPS, signed=True)


def steps(found: KeptVectors, tau: Fraction) -> list[int]:
    return list(found.clipped(tau, *clipping_grid(tau)))


def apart(one: list[int], other: list[int]) -> int:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))


@settings(max_examples=examples(40, least=4))
@given(rows, st.sampled_from(TAUS))
def test_vectors_are_those_of_rows_that_are_listed(rows, tau):
    summed: Counter[tuple[int, int]] = Counter()
    for owner, group, weight in rows:
        summed[owner, group] += weight
    parts = [(*pair, weight) for pair, weight in summed.items() if weight]
    owners, groups, weights = (np.array([part[i] for part in parts], np.int64) for i in range(3))
    constants = np.zeros(GROUPS, object)
    listed = Contributions.of(owners, groups, weights, participants=5, constants=constants, signed=True)
    found = vectors(rows)
    assert steps(found, tau) == list(clipped(listed, reference).at(tau))
    assert list(found._listed(tau, *clipping_grid(tau))) == steps(found, tau)
    assert list(found.true_answers()) == listed.true_answers().tolist()


@settings(max_examples=examples(40, least=4))
@given(rows, people, st.sampled_from(TAUS))
def test_a_participant_moves_all_groups_together_by_tau(rows, leaver, tau):
    left = [row for row in rows if row[0] != leaver]
    assert apart(steps(vectors(rows), tau), steps(vectors(left), tau)) <= clipping_grid(tau)[1]


def test_the_twin_that_clips_every_group_by_itself_moves_too_far():
    """What somebody brings to one group is taken for all that they bring."""
    rows = [(0, group, 9) for group in range(GROUPS)]
    alone = [vectors([row]) for row in rows]
    tau = Fraction(4)
    assert apart(steps(vectors(rows), tau), [0] * GROUPS) <= clipping_grid(tau)[1]
    careless = [sum(column) for column in zip(*(steps(one, tau) for one in alone), strict=True)]
    assert apart(careless, [0] * GROUPS) > clipping_grid(tau)[1]


def test_numbers_of_more_than_128_bits_are_added_up_by_us():
    huge = 2**62
    made = table("owner place weight", [(0, 0, huge), (1, 1, huge), (1, 0, 5)])
    wide = WAREHOUSE.keep(
        f"SELECT owner, place, CAST(weight AS HUGEINT) * {huge} // 2 AS weight FROM {made} AS m"
    )
    found = KeptVectors.of(WAREHOUSE, wide, OWNER, GROUPS, signed=True)
    tau = Fraction(2**31)
    step, most = clipping_grid(tau)
    assert found.loads.total * most > 2**127
    whole = huge * huge // 2
    small = 5 * huge // 2
    assert steps(found, tau) == [most + small * most // (whole + small), whole * most // (whole + small), 0]
    assert step == 1


@settings(max_examples=examples(20, least=2))
@given(pairs, st.sampled_from([0.5, 2.5, 12.0]))
def test_a_group_is_what_it_would_be_alone(rows, tau):
    names = "owner other place weight"
    found = KeptRelation.groups(WAREHOUSE, table(names, rows), PAIR, GROUPS, signed=True)
    for place, group in enumerate(found):
        mine = [row for row in rows if row[2] == place]
        alone = KeptRelation.of(WAREHOUSE, table(names, mine), PAIR, signed=True)
        assert group.true_answer() == alone.true_answer() == sum(weight for *_, weight in mine)
        for one, other in ((group.positive, alone.positive), (group.negative, alone.negative)):
            assert (one.count, one.total, one.largest) == (other.count, other.total, other.largest)
            both = [kept_programs(part) for part in (one, other)]
            assert both[0].truncated(tau, 1e-3) == both[1].truncated(tau, 1e-3)
            found_, wanted = (part.strict_withdrawals(tau, 1e-3) for part in both)
            assert found_.low <= wanted.high
            assert wanted.low <= found_.high
