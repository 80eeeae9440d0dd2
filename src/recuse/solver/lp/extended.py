"""The full linear programs of the theory, variable by variable, from the levels of any annotation shape.

An expression (the loss of a node, a usage) is a sparse row over the columns. A node with several children
under an OR, or an AND whose sum is clipped, gets a column of its own with rows that bound it from the
side the optimum pushes against.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from recuse.deferred import sparse
from recuse.krelation.evaluate import Evaluation
from recuse.krelation.prices import Prices
from recuse.krelation.relation import Floats, Integers, Quorums, Tuples
from recuse.solver import limits
from recuse.solver.lp.program import LinearProgram, Matrix


@dataclass(slots=True)
class ProgramDraft:
    """Columns and ≥-rows in the making. The first columns are g."""

    uppers: list[Floats]
    rows: list[Matrix] = field(default_factory=list)
    rights: list[Floats] = field(default_factory=list)

    @property
    def width(self) -> int:
        return sum(map(len, self.uppers))

    def columns(self, count: int, upper: float | Floats = 1.0) -> Matrix:
        """Return new columns, as one expression each."""
        start = self.width
        self.uppers.append(np.broadcast_to(upper, count).astype(np.float64))
        return _picks(np.arange(start, start + count), start + count)

    def at_least(self, rows: Matrix, right: float) -> None:
        """Demand rows·x ≥ right."""
        self.rows.append(rows)
        self.rights.append(np.full(rows.shape[0], right))

    def program(self, cost: Matrix, rows: Matrix, right: Floats) -> LinearProgram:
        """Return the program with these costs (a row) and further rows."""
        blocks = [_wide(block, self.width) for block in (*self.rows, rows)]
        upper = np.concatenate(self.uppers)
        return LinearProgram(
            cost=_wide(cost, self.width).toarray().ravel(),
            rows=sparse.vstack(blocks, format="csr"),
            right=np.concatenate((*self.rights, right)),
            lower=np.zeros(len(upper)),
            upper=upper,
        )


def _picks(columns: Integers, width: int) -> Matrix:
    """Return the matrix that selects columns."""
    count = len(columns)
    return sparse.csr_array((np.ones(count), columns, np.arange(count + 1)), shape=(count, width))


def _wide(matrix: Matrix, width: int) -> Matrix:
    """Return the same expressions over more columns."""
    return sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], width))


def _sums(level: Integers) -> Matrix:
    """Return the matrix that adds the children of each node."""
    children = level[-1]
    return sparse.csr_array((np.ones(children), np.arange(children), level), shape=(len(level) - 1, children))


def _repeats(level: Integers) -> Matrix:
    """Return the matrix that repeats a node for each of its children."""
    return _sums(level).T.tocsr()


def _add(*terms: Matrix) -> Matrix:
    width = max(term.shape[1] for term in terms)
    total = _wide(terms[0], width)
    for term in terms[1:]:
        total = total + _wide(term, width)
    return total.tocsr()


def _losses(draft: ProgramDraft, tuples: Tuples, participants: int, top: int) -> list[Matrix]:
    """Return the losses of the nodes at depths `top`, top+1, …, leaves last (above `top`: nothing)."""
    levels = tuples.levels
    found = [_picks(tuples.members, participants)]
    for depth in range(len(levels) - 1, top - 1, -1):
        below, sums = found[0], _sums(levels[depth])
        if tuples.quorums and depth % 2 == 0:
            found.insert(0, _thresholds(draft, levels[depth], tuples.quorums[depth // 2], below))
            continue
        if sums.shape[0] == sums.shape[1]:
            found.insert(0, below)
            continue
        loss = draft.columns(sums.shape[0])
        draft.at_least(
            _add(sums @ below, -loss) if depth % 2 else _add(below, -(_repeats(levels[depth]) @ loss)), 0.0
        )
        found.insert(0, loss)
    return found


def _thresholds(draft: ProgramDraft, level: Integers, quorums: Quorums, below: Matrix) -> Matrix:
    """Return the losses w of nodes that need `least` of what their children weigh.

    w is feasible iff Σ_i u_i (w - w_i)⁺ ≤ (least - 1) w (proofs.md, theorem Q1): one column more a child,
    y_i ≥ w - w_i. Rows are scaled by a power of two, so that their numbers stay exact.
    """
    loss, repeat = draft.columns(len(level) - 1), _repeats(level)
    several = quorums.least > 1
    places = np.flatnonzero(np.repeat(several, np.diff(level)))
    excess = draft.columns(len(places))
    spread = sparse.csr_array(
        (np.ones(len(places)), (places, np.arange(len(places)))), shape=(int(level[-1]), len(places))
    )
    draft.at_least(_add(below, spread @ excess, -(repeat @ loss)), 0.0)
    nodes, scale = np.flatnonzero(several), 2.0 ** -np.floor(np.log2(np.maximum(1, quorums.least)))
    needed = _diagonal((quorums.least - 1) * scale)[nodes] @ loss
    counted = (
        _diagonal(scale)[nodes] @ _sums(level) @ _diagonal(quorums.weights.astype(np.float64))
    ) @ spread
    draft.at_least(_add(needed, -(counted @ excess)), 0.0)
    return loss


def _diagonal(values: Floats) -> Matrix:
    count = len(values)
    return sparse.csr_array((values, np.arange(count), np.arange(count + 1)), shape=(count, count))


def truncated_program(
    tuples: Tuples, participants: int, tau: float, prices: Prices | None = None
) -> LinearProgram:
    """Return X(τ) = min F(g) + τ|g|, with prices Σ_p b_p g_p, in units of a power of two near τ."""
    draft, scale = ProgramDraft([np.ones(participants)]), power_of_two_near(tau)
    bounds = (prices or Prices.alike(participants)).bounds(tau)
    answer = _answer(draft, tuples, participants, light_weights(tuples, tau, bounds.max(initial=tau)))
    paid = sparse.csr_array((bounds / scale)[None, :])
    return draft.program(_add(answer, paid), *_nothing())


def light_weights(tuples: Tuples, tau: float, bound: float) -> Floats:
    """Return the weights in units of a power of two near τ, none of them above the exact one.

    A weight above 2b·(alternatives), b the largest bound, is never kept, so it may be lighter (proofs.md,
    lemma H).
    """
    scale = power_of_two_near(tau)
    lid = 2 * (bound / scale) * tuples.alternatives().astype(np.float64)
    return np.minimum(tuples.weights_down() / scale, lid)


def _answer(draft: ProgramDraft, tuples: Tuples, participants: int, weights: Floats) -> Matrix:
    """Return F as one expression: kept z_t ≥ 1 - (losses below each of its ANDs)."""
    losses = _losses(draft, tuples, participants, 0 if tuples.quorums else 2)
    kept = draft.columns(len(tuples))
    if tuples.quorums:
        draft.at_least(_add(kept, losses[0]), 1.0)
    else:
        draft.at_least(_add(_repeats(tuples.levels[0]) @ kept, _sums(tuples.levels[1]) @ losses[0]), 1.0)
    return sparse.csr_array(weights[None, :]) @ kept


@dataclass(frozen=True, slots=True, eq=False)
class FullPrograms:
    """Builds X and H, which need the kept fractions, and N, N_s and Γ, which need the loads."""

    evaluation: Evaluation

    def _withdrawals(self) -> ProgramDraft:
        return ProgramDraft([np.ones(self.evaluation.participants)])

    def _all_withdrawals(self) -> Matrix:
        return sparse.csr_array(np.ones((1, self.evaluation.participants)))

    def usages(self, draft: ProgramDraft) -> Matrix:
        """Return u_{t,p} of every entry of the evaluation as an expression."""
        tuples = self.evaluation.tuples
        losses = _losses(draft, tuples, self.evaluation.participants, 2)
        context = sparse.csr_array((len(tuples), draft.width))
        for depth, level in enumerate(tuples.levels[:-1]):
            repeat = _repeats(level)
            context = repeat @ context
            if depth % 2:
                below = losses[depth - 1]
                context = _add(context, repeat @ (_sums(level) @ below), -below)
        values = draft.columns(len(tuples.clauses) - 1)
        draft.at_least(_add(values, context, _sums(tuples.clauses) @ losses[-1]), 1.0)
        usage = _repeats(tuples.clauses) @ values
        most = np.ones(len(tuples.members))  # what each usage is at g = 0
        for step in self.evaluation.steps:
            usage, most = usage.tocsr()[step.order], step(most)
            if len(step.starts) == len(step.order):  # one entry each: nothing to combine
                continue
            groups = np.append(step.starts, usage.shape[0])
            if step.combine is np.add:
                usage = _sums(groups) @ usage
            else:
                largest = draft.columns(len(step.starts), most)
                draft.at_least(_add(_repeats(groups) @ largest, -usage), 0.0)
                usage = largest
        return usage.tocsr()

    def _loads(self, draft: ProgramDraft, scale: float, cap: float = np.inf) -> Matrix:
        where = self.evaluation
        usage = self.usages(draft)
        # a hair lighter, so that no product with a multiplicity rounds up
        weights = np.minimum(where.tuples.weights_down() / scale, cap)[where.entry_tuple] * (1 - 2.0**-50)
        shape = (where.participants, len(weights))
        return sparse.csr_array((weights, (where.entry_member, np.arange(len(weights)))), shape=shape) @ usage

    def truncated(self, tau: float) -> LinearProgram:
        """Return X(τ) = min F(g) + Σ_p b_p g_p in units of a power of two near τ."""
        where = self.evaluation
        return truncated_program(where.tuples, where.participants, tau, where.prices)

    def least_answer(self, s: float) -> LinearProgram:
        """Return H(s) = min{F(g) : |g| ≤ s}."""
        draft, tuples = self._withdrawals(), self.evaluation.tuples
        answer = _answer(draft, tuples, self.evaluation.participants, tuples.weights_down())
        return draft.program(answer, -self._all_withdrawals(), np.array([-s]))

    def withdrawals(self, tau: float) -> LinearProgram:
        """Return N(τ) = min{|g| : ℓ_p(g) ≤ τ}, its rows scaled by a power of two near τ."""
        draft, scale = self._withdrawals(), power_of_two_near(tau)
        loads = self._loads(draft, scale, limits.HEAVIEST_WEIGHT)
        return draft.program(self._all_withdrawals(), -loads, -self.evaluation.bounds(tau) / scale)

    def strict_withdrawals(self, tau: float) -> LinearProgram:
        """Return N_s(τ) = min{|g| : ℓ_p(g) + b_p g_p ≤ b_p}, b_p being τ times p's price."""
        draft, scale = self._withdrawals(), power_of_two_near(tau)
        loads = self._loads(draft, scale, limits.HEAVIEST_WEIGHT)
        bounds = self.evaluation.bounds(tau) / scale
        return draft.program(self._all_withdrawals(), -_add(loads, _diagonal(bounds)), -bounds)

    def least_load(self, s: float, scale: float) -> LinearProgram:
        """Return Γ(s)/scale = min{max_p ℓ_p(g) : |g| ≤ s}/scale; the largest load is the last column."""
        draft = self._withdrawals()
        loads = self._loads(draft, scale)
        largest = draft.columns(1, upper=2 + self.evaluation.loads(np.zeros(loads.shape[0])).max() / scale)
        draft.at_least(_add(_repeats(np.array([0, loads.shape[0]])) @ largest, -loads), 0.0)
        return draft.program(largest, -self._all_withdrawals(), np.array([-s]))


def _nothing() -> tuple[Matrix, Floats]:
    return sparse.csr_array((0, 1)), np.zeros(0)


def power_of_two_near(value: float) -> float:
    """Return the largest power of two that does not exceed a positive value."""
    return float(2.0 ** np.floor(np.log2(value)))
