"""The accuracy results as a page: geometric means over informative cells, the cells we lose, a picture.

    python -m recuse.experiments.accuracy_report --graphs FOLDER --tpch DATABASE --out RESULTS --page docs

measures what RESULTS lacks, then writes docs/accuracy.md. DATABASE is made by
`python -m recuse.experiments.tpch load`.
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

from recuse.experiments.accuracy import (
    MOST_TUPLES,
    RESULTS,
    Cell,
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

Key = tuple[str, str, str]


def by_key(cells: Iterable[Cell]) -> dict[Key, dict[str, Cell]]:
    """Return the cells of each (relation, protect, ε) by mechanism; both the paper's settings are `paper`."""
    found: dict[Key, dict[str, Cell]] = defaultdict(dict)
    for cell in cells:
        name = "paper" if cell.mechanism.startswith("paper") else cell.mechanism
        found[cell.relation, cell.protect, cell.epsilon][name] = cell
    return {key: group for key, group in found.items() if set(group) >= set(NAMES)}


def informative(cells: Iterable[Cell]) -> dict[Key, dict[str, Cell]]:
    """Return the complete groups of cells in which the oracle's error is small."""
    groups = by_key(cells)
    return {key: group for key, group in groups.items() if group["selective"].oracle_error < INFORMATIVE}


def ratios(groups: dict[Key, dict[str, Cell]], mechanism: str, other: str | None = None) -> np.ndarray:
    """Return the median errors relative to the oracle's, or to another mechanism's."""
    found = []
    for group in groups.values():
        base = group[other].median_relative_error if other else group[mechanism].oracle_error
        found.append(max(FLOOR, group[mechanism].median_relative_error) / max(FLOOR, base))
    return np.array(found)


def geometric_mean(values: Sequence[float] | np.ndarray) -> float:
    """Return the geometric mean."""
    return math.exp(float(np.mean(np.log(values))))


def page(cells: Sequence[Cell], command: str) -> str:
    """Return the page in Markdown."""
    groups = informative(cells)
    lines = [
        "# Accuracy",
        "",
        f"Median relative error over {cells[0].runs} runs a cell; {len(by_key(cells))} cells (relation × ε), "
        f"of which {len(groups)} are informative: the best fixed τ in hindsight, with all of ε, errs by less "
        f"than {INFORMATIVE:.0%}. Made by `{command}`. NOT PRIVATE.",
        "",
        "| mechanism | error / oracle (geometric mean) | 90th percentile | error / the paper's parameters |",
        "|---|---|---|---|",
    ]
    for name, words in NAMES.items():
        to_oracle, to_paper = ratios(groups, name), ratios(groups, name, "paper")
        figures = (geometric_mean(to_oracle), np.quantile(to_oracle, 0.9), geometric_mean(to_paper))
        lines.append(f"| {words} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |")
    lines += ["", "![error relative to the oracle](images/accuracy-ratio.png)", ""]
    lines += _losses(groups)
    lines += _by_pattern(groups)
    return "\n".join(lines) + "\n"


def _losses(groups: dict[Key, dict[str, Cell]]) -> list[str]:
    worse = []
    for key, ratio in zip(groups, ratios(groups, "selective", "paper"), strict=True):
        if ratio > LOSS:
            worse.append((ratio, key))
    lines = [f"## Where the default loses by more than {LOSS} × to the paper's parameters", ""]
    lines += [
        "| relation | protected | ε | error / the paper's | error | oracle |",
        "|---|---|---|---|---|---|",
    ]
    for ratio, key in sorted(worse, reverse=True):
        cell = groups[key]["selective"]
        errors = f"{ratio:.2f} | {cell.median_relative_error:.2%} | {cell.oracle_error:.2%}"
        lines.append(f"| {' | '.join(key)} | {errors} |")
    return [*lines, "", f"{len(worse)} of {len(groups)} cells.", ""]


def _by_pattern(groups: dict[Key, dict[str, Cell]]) -> list[str]:
    lines = ["## By relation, ε = 1: median relative error", ""]
    lines += ["| relation | protected | true value | oracle | " + " | ".join(NAMES) + " |"]
    lines += ["|---" * (4 + len(NAMES)) + "|"]
    for (relation, protect, epsilon), group in groups.items():
        if epsilon == "1":
            first = group["selective"]
            errors = " | ".join(f"{group[name].median_relative_error:.2%}" for name in NAMES)
            facts = f"{relation} | {protect} | {first.true_value:,.0f} | {first.oracle_error:.2%}"
            lines.append(f"| {facts} | {errors} |")
    return lines


def draw(cells: Sequence[Cell], folder: Path) -> None:
    """Write the pictures: distributions of the error relative to the oracle, for every mechanism."""
    groups = informative(cells)
    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    for name, words in NAMES.items():
        values = np.sort(ratios(groups, name))
        axes.step(values, np.arange(1, len(values) + 1) / len(values), where="post", label=words)
    axes.set_xscale("log")
    axes.set_xlabel("median error, as a multiple of the oracle's")
    axes.set_ylabel("share of the cells at or below")
    axes.set_xlim(left=0.8)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right", frameon=False)
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
