"""The accuracy results as a page: geometric means over informative cells, the cells we lose, a picture.

    python -m recuse.lab.experiments.accuracy_report --graphs FOLDER --tpch DATABASE --out RESULTS --page DOCS

measures what RESULTS lacks, then writes accuracy.md. DATABASE is made by
`python -m recuse.lab.experiments.tpch load`.
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from recuse.lab.experiments.accuracy import (
    EPSILONS,
    MOST_TUPLES,
    OWNERS,
    RESULTS,
    AccuracyCell,
    load_cells,
    one_owner,
    run_accuracy,
    subgraphs,
)

INFORMATIVE = 0.15
"""A cell tells something if even the oracle's error is below this."""
LOSS = 1.25
NAMES = {
    "selective": "selective (default)",
    "tuned": "recursive, tuned",
    "paper": "recursive, the paper's parameters",
    "r2t": "R2T, GS = 10⁶, base 2",
    "r2t-5.5": "R2T, GS = 10⁶, base 5.5",
}
FLOOR = 1e-6
"""Errors are not compared below this: an answer that is exact after rounding has none."""

EXPLAINED = """Two things cost it.

*Few participants for the scale.* To withdraw everybody takes about n/(size of the pattern)
withdrawals; where ε1 times that is not well above the prior of the right doubling (2 ln 2 for each
from 16 on), low doublings win by chance and the answer collapses. The paper's rule pays less for
high scales and fails more gently.

*Heavy tails of cliques.* Withdrawing a handful of people removes a clique that holds a large share
of the answer, and a choice with resolution 1/ε1 cannot tell a handful from nobody.
"""

ReportKey = tuple[str, str, str]
ReportGroups = dict[ReportKey, dict[str, AccuracyCell]]


def by_key(cells: Iterable[AccuracyCell]) -> ReportGroups:
    """Return the cells of each (relation, protect, ε) by mechanism; both the paper's settings are `paper`."""
    found: ReportGroups = defaultdict(dict)
    for cell in cells:
        name = "paper" if cell.mechanism.startswith("paper") else cell.mechanism
        found[cell.relation, cell.protect, cell.epsilon][name] = cell
    return {key: group for key, group in found.items() if set(group) >= set(NAMES)}


def informative(cells: Iterable[AccuracyCell]) -> ReportGroups:
    """Return the complete groups of cells in which the oracle's error is small."""
    groups = by_key(cells)
    return {key: group for key, group in groups.items() if group["selective"].oracle_error < INFORMATIVE}


def ratios(groups: ReportGroups, mechanism: str, other: str | None = None) -> np.ndarray:
    """Return the median errors relative to the oracle's, or to another mechanism's."""
    found = []
    for group in groups.values():
        base = group[other].median_relative_error if other else group[mechanism].oracle_error
        found.append(max(FLOOR, group[mechanism].median_relative_error) / max(FLOOR, base))
    return np.array(found)


def geometric_mean(values: Sequence[float] | np.ndarray) -> float:
    """Return the geometric mean."""
    return math.exp(float(np.mean(np.log(values))))


def page(cells: Sequence[AccuracyCell], command: str) -> str:
    """Return the page in Markdown."""
    groups = informative(cells)
    sections = (
        _summary(cells, groups, command),
        _table(groups),
        _one_owner(cells),
        _losses(groups),
        _by_relation(groups),
    )
    return "\n\n".join(sections) + "\n"


def _summary(cells: Sequence[AccuracyCell], groups: ReportGroups, command: str) -> str:
    relations = len({(cell.relation, cell.protect) for cell in cells})
    return f"""# Accuracy

NOT PRIVATE: errors against the truth, on data that anybody may see. Made by `{command}`.

{relations} relations (subgraphs of real and random graphs under node and edge privacy; TPC-H questions
in which every row has one owner) × ε ∈ {{{", ".join(EPSILONS)}}}, at least {min(cell.runs for cell in cells)}
runs of every mechanism in each. The *oracle* knows the data: it is the best fixed τ in hindsight, with all
of ε for the noise. Answers are at least zero, but not rounded, as the oracle's are not.
{len(groups)} of the {len(by_key(cells))} cells are informative: the oracle's median error is below
{INFORMATIVE:.0%}. All mechanisms see the same relation. X(τ) of subgraphs is interpolated between quarters
of a doubling where a τ is asked for once, as by the recursive mechanism, which lowers it a little.
Relations of more than {MOST_TUPLES:,} tuples count as not enumerable here, and are left out."""


def _table(groups: ReportGroups) -> str:
    head = [
        "| mechanism | error / oracle (geometric mean) | its 90th percentile | error / the paper's |",
        "|---|---|---|---|",
    ]
    lines = []
    for name, words in NAMES.items():
        to_oracle, to_paper = ratios(groups, name), ratios(groups, name, "paper")
        figures = (geometric_mean(to_oracle), np.quantile(to_oracle, 0.9), geometric_mean(to_paper))
        lines.append(f"| {words} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |")
    gains = [1 / geometric_mean(ratios(groups, "selective", other)) for other in ("paper", "r2t", "r2t-5.5")]
    said = (
        f"The default errs {gains[0]:.2f} × less than the paper's parameters, {gains[1]:.1f} × less than\n"
        f"R2T with base 2 and {gains[2]:.1f} × less than with its authors' 5.5 (errors saturate at 100 %)."
    )
    return "\n".join(
        [*head, *lines, "", said, "", "![error relative to the oracle](images/accuracy-ratio.png)"]
    )


def _one_owner(cells: Sequence[AccuracyCell]) -> str:
    """Return the errors where every row has one owner, beside a Laplace mechanism told the largest load."""
    lines = [
        "## One owner a row",
        "",
        "*Told* is Laplace noise for a bound on contributions that happens to be the true maximum: what a",
        "tool with a clipping bound can reach, if its user guesses right.",
        "",
        "| relation | protected | ε | default | told | default / told | the paper's | R2T |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for key, group in by_key(cells).items():
        own = group["selective"]
        if key[1] in OWNERS:
            continue
        told = math.log(2) * own.largest_load / float(own.epsilon) / own.true_value
        errors = [group[name].median_relative_error for name in ("selective", "paper", "r2t")]
        shown = f"{errors[0]:.5%} | {told:.5%} | {errors[0] / told:.2f} | {errors[1]:.4%} | {errors[2]:.2%}"
        lines.append(f"| {' | '.join(key)} | {shown} |")
    return "\n".join(lines)


def _losses(groups: ReportGroups) -> str:
    worse = [
        (ratio, key)
        for key, ratio in zip(groups, ratios(groups, "selective", "paper"), strict=True)
        if ratio > LOSS
    ]
    lines = [
        f"## Where the default loses by more than {LOSS} × to the paper's parameters",
        "",
        f"{len(worse)} of {len(groups)} cells. {EXPLAINED}",
        "| relation | protected | ε | error / the paper's | error | oracle |",
        "|---|---|---|---|---|---|",
    ]
    for ratio, key in sorted(worse, reverse=True):
        cell = groups[key]["selective"]
        errors = f"{ratio:.2f} | {cell.median_relative_error:.2%} | {cell.oracle_error:.2%}"
        lines.append(f"| {' | '.join(key)} | {errors} |")
    return "\n".join(lines)


def _by_relation(groups: ReportGroups) -> str:
    lines = ["## By relation, ε = 1: median relative error", ""]
    lines += ["| relation | protected | true value | oracle | " + " | ".join(NAMES) + " |"]
    lines += ["|---" * (4 + len(NAMES)) + "|"]
    for (relation, protect, epsilon), group in groups.items():
        if epsilon == "1":
            first = group["selective"]
            errors = " | ".join(f"{group[name].median_relative_error:.3%}" for name in NAMES)
            facts = f"{relation} | {protect} | {first.true_value:,.0f} | {first.oracle_error:.3%}"
            lines.append(f"| {facts} | {errors} |")
    return "\n".join(lines)


def draw(cells: Sequence[AccuracyCell], folder: Path) -> None:
    """Write the pictures: distributions of the error relative to the oracle, for every mechanism."""
    groups = informative(cells)
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    for name, words in NAMES.items():
        values = np.sort(ratios(groups, name))
        axes.step(values, np.arange(1, len(values) + 1) / len(values), where="post", label=words)
    axes.set_xscale("log")
    axes.set_xlabel("median error, as a multiple of the oracle's")
    axes.set_ylabel("share of the cells at or below")
    axes.set_xlim(left=0.8)
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "accuracy-ratio.png", dpi=130)
    plt.close(figure)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the page and its picture."""
    parser = argparse.ArgumentParser(description="The error of every mechanism, against the truth.")
    parser.add_argument("--graphs", type=Path, required=True, help="a folder of graph files")
    parser.add_argument("--tpch", type=Path, required=True, help="a DuckDB file with the TPC-H tables")
    parser.add_argument("--out", type=Path, required=True, help="where the results are kept")
    parser.add_argument("--page", type=Path, help="the folder of the page")
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--most", type=int, default=MOST_TUPLES, help="larger relations are left out")
    given = parser.parse_args(arguments)
    found = chain(one_owner(given.tpch), subgraphs(given.graphs, given.most))
    for line in run_accuracy(found, given.out, given.runs):
        print(line, flush=True)
    if given.page:
        cells = load_cells(given.out / RESULTS)
        (given.page / "accuracy.md").write_text(page(cells, "make accuracy"))
        draw(cells, given.page / "images")


if __name__ == "__main__":
    main()
