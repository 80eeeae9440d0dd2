"""Privacy-critical lines, each broken in turn: the quick tests that stand beside it must notice.

    python tests/support/mutate.py              all of them, `make mutate`
    python tests/support/mutate.py NAME …       some of them

A mutant is a copy of the package with one line replaced, in a folder of its own. It is *caught* if the tests
that are named beside it fail in the quick profile; the first of them to fail is printed. Leaves with 1 if a
mutant is not caught, or if its line no longer stands exactly once in its file.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

ROOT = Path(__file__).resolve().parents[2]
QUIETLY = ("-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "--tb=no", "-rfE")
QUICK = {"HYPOTHESIS_PROFILE": "quick", "PYTEST_XDIST_TESTRUNUID": uuid4().hex}
"""as `make test`: as many examples a law, and as few of the cases that are alike"""
BROKEN_RUN = 2
"""pytest's own codes from here on: the tests did not run, so that nothing was caught"""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A line of the package, what it becomes, and the tests that must fail then."""

    name: str
    file: str
    line: str
    broken: str
    tests: tuple[str, ...]

    def written(self, folder: Path) -> Path:
        """Return a copy of the sources in which the line is broken."""
        sources = folder / "src"
        shutil.copytree(ROOT / "src", sources, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        path = sources / "recuse" / self.file
        text = path.read_text()
        if text.count(self.line) != 1:
            raise ValueError(f"{self.name}: not exactly once in {self.file}: {self.line}")
        path.write_text(text.replace(self.line, self.broken))
        return sources

    def caught_by(self) -> str | None:
        """Return the first test that fails, or nothing if all pass."""
        with tempfile.TemporaryDirectory() as folder:
            sources = self.written(Path(folder))
            done = subprocess.run(
                [sys.executable, "-m", "pytest", *QUIETLY, *self.tests],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(sources), **QUICK},
                capture_output=True,
                text=True,
            )
        if done.returncode >= BROKEN_RUN:
            raise RuntimeError(
                f"{self.name}: the tests did not run\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
            )
        found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
        return found[1] if found else None


MUTANTS = (
    Mutant(
        "people outside a focus in an engine are charged",
        "solver/kept/outside.py",
        "exact = (total - count * charged.least) * charged.unit",
        "exact = 0 * (total - count * charged.least) * charged.unit",
        ("tests/solver/kept/test_programs.py",),
    ),
    Mutant(
        "a histogram of loads counts all owners of a row",
        "solver/kept/loads.py",
        "nu * (most if heap.over else most - 1)",
        "nu * (most - 1)",
        ("tests/solver/kept/test_programs.py",),
    ),
    Mutant(
        "a load just above a level is above it",
        "solver/kept/loads.py",
        "return min(math.floor(tau), 2**126)",
        "return min(math.ceil(tau) + 1, 2**126)",
        ("tests/solver/kept/test_programs.py",),
    ),
    Mutant(
        "what certificates leave open is paid for in one group",
        "mechanism/priced.py",
        "sensitivity = self.list.most * steps + loose * len(self.relations)",
        "sensitivity = self.list.most * steps + loose",
        ("tests/mechanism/test_priced.py",),
    ),
    Mutant(
        "prices are rounded up",
        "mechanism/priced.py",
        "Fraction(PARTS * self.most // self.touched[kind], PARTS)",
        "Fraction(-(-PARTS * self.most // self.touched[kind]), PARTS)",
        ("tests/mechanism/test_priced.py",),
    ),
    Mutant(
        "a bound is rounded to the nearest",
        "krelation/prices.py",
        "return near if Fraction(near) <= value else math.nextafter(near, 0.0)",
        "return near",
        ("tests/krelation/test_prices.py",),
    ),
    Mutant(
        "the hull pays for slack on one side",
        "mechanism/hull.py",
        "steps + 2 * loose, below",
        "steps + loose, below",
        ("tests/mechanism/test_hull.py",),
    ),
    Mutant(
        "whoever stands below an OR is thought to decide keys",
        "sql/touch.py",
        "        if kind in anywhere\n",
        "        if kind in anywhere - set(together)\n",
        ("tests/sql/test_touch.py",),
    ),
    Mutant(
        "a box is drawn without the descents",
        "mechanism/boxes.py",
        "sides: Integers = found + more",
        "sides: Integers = 0 * found + more",
        ("tests/mechanism/test_boxes.py",),
    ),
    Mutant(
        "private rows are read before the charge",
        "session/spine.py",
        "        paid.receipt = ledger.charge(bill)\n",
        "        question.read_private_rows(self._parts.solver)\n"
        "        paid.receipt = ledger.charge(bill)\n",
        ("tests/session/test_session.py", "tests/attacks/test_races_and_kills.py"),
    ),
    Mutant(
        "the last of the budget is given twice",
        "ledger/spending.py",
        "if question.epsilon.value > left:",
        "if question.epsilon.value > left + question.epsilon.value:",
        ("tests/ledger/test_ledger.py",),
    ),
    Mutant(
        "all of the budget cannot be spent",
        "ledger/spending.py",
        "if question.epsilon.value > left:",
        "if question.epsilon.value >= left:",
        ("tests/ledger/test_ledger.py",),
    ),
    Mutant(
        "a charge is written down and not added up",
        "ledger/ledger.py",
        "(str(before.spent + epsilon), str(before.spent_delta + delta)),",
        "(str(before.spent), str(before.spent_delta + delta)),",
        ("tests/ledger/test_ledger.py",),
    ),
    Mutant(
        "half of the noise",
        "mechanism/cell.py",
        "return [noise.laplace(self.spread())]",
        "return [noise.laplace(self.spread() / 2)]",
        ("tests/mechanism/test_recursive.py", "tests/mechanism/test_answer.py"),
    ),
    Mutant(
        "the sensitivity without the certificate's slack",
        "mechanism/prepared.py",
        "return cell(epsilon, ANSWER_GRID + loose_steps(SLACK * signs))",
        "return cell(epsilon, ANSWER_GRID)",
        ("tests/mechanism/test_recursive.py", "tests/mechanism/test_answer.py"),
    ),
    Mutant(
        "the choice of a level costs twice its epsilon",
        "mechanism/selective.py",
        "weight, penalty = epsilon / levels.moves(), levels.penalty(programs, top)",
        "weight, penalty = 2 * epsilon / levels.moves(), levels.penalty(programs, top)",
        ("tests/mechanism/test_selective.py",),
    ),
    Mutant(
        "a penalty in the race weighs twice its epsilon",
        "mechanism/racing.py",
        "weight, penalty = dial.choice * self.epsilon / rule.moves()",
        "weight, penalty = 2 * dial.choice * self.epsilon / rule.moves()",
        ("tests/mechanism/test_racing.py",),
    ),
    Mutant(
        "the winner's noise is drawn anew",
        "mechanism/racing.py",
        "return self.entries.point(self.place, noise)",
        "return self.noise.draw(noise)",
        ("tests/mechanism/test_racing.py",),
    ),
    Mutant(
        "a boost that the noise does not pay",
        "mechanism/racing.py",
        "each = part * added.epsilon / added.parts",
        "each = 2 * part * added.epsilon / added.parts",
        ("tests/mechanism/test_racing.py",),
    ),
    Mutant(
        "levels that spare somebody are rewarded",
        "mechanism/levels.py",
        "max(Fraction(0), found - spared)",
        "found - spared",
        ("tests/mechanism/test_racing.py",),
    ),
    Mutant(
        "the deficit with the wrong sign",
        "mechanism/levels.py",
        "terms = ((self.answer(j) - own) / self.ladder.tau(j)",
        "terms = ((own - self.answer(j)) / self.ladder.tau(j)",
        ("tests/mechanism/test_selective.py",),
    ),
    Mutant(
        "the index is one too small",
        "solver/index/integer.py",
        "    while not low_enough(programs, evaluation, s, scale, beta * s):\n        s += 1\n",
        "    while not low_enough(programs, evaluation, s + 1, scale, beta * s):\n        s += 1\n",
        ("tests/solver/index/test_integer.py",),
    ),
    Mutant(
        "zero noise is drawn with both signs",
        "noise.py",
        "if size or not negative:",
        "if True:",
        ("tests/test_noise.py",),
    ),
    Mutant(
        "scales round down",
        "noise.py",
        "return int(_measurement(round_up(scale))(0))",
        "return int(_measurement(round_down(scale))(0))",
        ("tests/test_noise.py",),
    ),
    Mutant(
        "a proof rounds inwards",
        "solver/bounds.py",
        "low, high = reduced - slack, reduced + slack",
        "low, high = reduced + slack, reduced + slack",
        ("tests/solver/test_certificate.py",),
    ),
    Mutant(
        "a withdrawal is rounded down where it must go up",
        "solver/certificate.py",
        "return np.ceil(np.clip(np.nan_to_num(g), 0.0, 1.0) / self.grid) * self.grid",
        "return np.floor(np.clip(np.nan_to_num(g), 0.0, 1.0) / self.grid) * self.grid",
        ("tests/solver/test_certificate.py",),
    ),
    Mutant(
        "a row whose owner is NULL is kept",
        "sql/complete.py",
        "self.conditions.append(_not_null(scan, name))",
        "pass",
        ("tests/sql/test_golden.py", "tests/attacks/test_wrong_owners.py"),
    ),
    Mutant(
        "owners that differ are taken for one",
        "sql/equalities.py",
        "return owner.kind, tuple(map(self._led, owner.values))",
        "return owner.kind, ()",
        ("tests/sql/test_golden.py",),
    ),
    Mutant(
        "a key of nanoseconds is one of microseconds",
        "engines/duckdb_catalogue.py",
        "elif told_apart(table, key := spelled(table, columns)):",
        "elif key := spelled(table, columns):",
        ("tests/sql/native/test_apart.py", "tests/attacks/test_wrong_owners.py"),
    ),
    Mutant(
        "a float is thought to look up one row",
        "sql/native/apart.py",
        "for pair in identical_columns(condition, lookup)",
        "for pair in [[(item.alias, one) for one in key] + [(other, '') for other in before]]",
        ("tests/sql/native/test_apart.py",),
    ),
    Mutant(
        "one withdrawal is thought to take a row with alternatives",
        "krelation/forest.py",
        "if self.owners.shape[1] or not self.below:",
        "if True:",
        ("tests/engines/test_candidates.py",),
    ),
    Mutant(
        "tuples are solved in the order of the table",
        "mechanism/prepared.py",
        "lambda: solver(canonical(part), people, prices)",
        "lambda: solver(part, people, prices)",
        ("tests/mechanism/test_racing.py",),
    ),
    Mutant(
        "participants of groups are numbered as they come",
        "krelation/encode.py",
        "codes, values = in_order(*numbered(owned.columns))",
        "codes, values = numbered(owned.columns)",
        ("tests/krelation/test_encode.py",),
    ),
    Mutant(
        "a key is told from where the tail of continuous noise ends",
        "mechanism/found.py",
        "return times * high / (1 + low) <= delta",
        "return times * high / 2 <= delta",
        ("tests/audit/test_found.py",),
    ),
    Mutant(
        "what ends the draws of keys is not ahead",
        "mechanism/found.py",
        "return cls(rate, 1 + 2 * SLACK + ahead / rate)",
        "return cls(rate, Fraction(0))",
        ("tests/audit/test_found.py",),
    ),
    Mutant(
        "delta is not charged",
        "ledger/ledger.py",
        "delta = Fraction(0) if question.delta is None else question.delta.value",
        "delta = Fraction(0)",
        ("tests/ledger/test_delta.py",),
    ),
    Mutant(
        "a quantile is drawn at twice its rate",
        "mechanism/quantile.py",
        "return epsilon / (2 * tau * max(rank, 1 - rank) * (1 + 2 * SLACK))",
        "return epsilon / (tau * max(rank, 1 - rank) * (1 + 2 * SLACK))",
        ("tests/mechanism/test_quantile.py",),
    ),
    Mutant(
        "a quantile is taken whatever its envelope says",
        "mechanism/quantile.py",
        "if happens(envelope.rate * distance(value) - exponent, noise):",
        "if True:",
        ("tests/mechanism/test_quantile.py",),
    ),
    Mutant(
        "a pick forgets half of its exponents",
        "mechanism/pick.py",
        "ends = [exponential(least - x, digits) if",
        "ends = [exponential((least - x) / 2, digits) if",
        ("tests/mechanism/test_quantile.py",),
    ),
    Mutant(
        "a maximum weighs twice its epsilon",
        "mechanism/extreme.py",
        "weight = epsilon / (1 + 2 * SLACK)",
        "weight = 2 * epsilon / (1 + 2 * SLACK)",
        ("tests/mechanism/test_extreme.py",),
    ),
    Mutant(
        "whoever has more than the level counts as they are",
        "mechanism/clipped.py",
        "found[over] = share(sizes[over], loads[over], most)",
        "found[over] = sizes[over] * step.denominator // step.numerator",
        ("tests/mechanism/test_clipped.py",),
    ),
    Mutant(
        "an edge is thought to move the degree of one node",
        "session/degree_question.py",
        "return Tallied(tail_counts(self.graph, np.array(self.tails)).tolist(), 2)",
        "return Tallied(tail_counts(self.graph, np.array(self.tails)).tolist(), 1)",
        ("tests/graphs/test_degrees.py",),
    ),
    Mutant(
        "a group that lacks one row is thought to be whole",
        "solver/thresholds/certificate.py",
        "level) - (quorums.least - 1)).astype(np.float64)",
        "level) - quorums.least).astype(np.float64)",
        ("tests/solver/thresholds/test_certificate.py", "tests/solver/thresholds/test_programs.py"),
    ),
    Mutant(
        "a count needs one row fewer",
        "sql/derive.py",
        "            return least\n",
        "            return max(1, least - 1)\n",
        ("tests/sql/test_thresholds.py",),
    ),
    Mutant(
        "the groups of a set of keys are thought to share nobody",
        "sql/compile.py",
        "grouped=bool(question.keys_of(place))",
        "grouped=False",
        ("tests/sql/test_rollup.py",),
    ),
    Mutant(
        "shares of epsilon add up to more than it",
        "session/shares.py",
        "left = 1 - second - third",
        "left = Fraction(1)",
        ("tests/session/test_found.py",),
    ),
    Mutant(
        "the catalogue of somebody else's connection is kept",
        "engines/duckdb.py",
        "        if self.own is not None:\n            self.settled.append(found)",
        "        if True:\n            self.settled.append(found)",
        ("tests/engines/test_duckdb_catalogue.py",),
    ),
    Mutant(
        "what failed is chained to what leaves",
        "session/outward.py",
        "        log.note(error)\n",
        "        log.note(error)\n        raise UnansweredError from error\n",
        ("tests/attacks/test_faults.py",),
    ),
)


def main(*names: str) -> int:
    """Return 1 if a mutant lives, else 0."""
    alive = 0
    for mutant in MUTANTS:
        if names and mutant.name not in names:
            continue
        caught = mutant.caught_by()
        alive += caught is None
        print(f"{mutant.name:50}  {mutant.file:28}  {caught or 'NOT CAUGHT'}", flush=True)
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
