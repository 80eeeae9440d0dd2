"""The pictures and tables of reproduced figures, by name. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from recuse.lab.experiments.axes import PlotRows, labels, legend_below, medians, save

STYLES: dict[str, tuple[str, str, str]] = {
    "selective": ("Recuse's default", "tab:red", "o"),
    "paper": ("the paper's mechanism", "tab:blue", "s"),
    "smooth": ("smooth sensitivity (2007)", "tab:green", "^"),
    "smooth-tight": ("smooth sensitivity, sharper constants", "tab:olive", "v"),
    "k-triangle": ("noisy local sensitivity (ε, δ)", "tab:green", "<"),
    "ladder": ("ladder", "tab:purple", "D"),
    "rhms": ("RHMS (adversarial privacy)", "tab:gray", "x"),
    "r2t": ("R2T, guessed GS = 10⁶", "tab:orange", "P"),
    "r2t-5.5": ("R2T, its authors' base 5.5", "tab:brown", "X"),
    "opt2": ("OPT²", "black", "p"),
    "lp": ("linear program, guessed τ = 64", "tab:cyan", "h"),
    "naive": ("naive truncation, guessed D = 32", "tab:pink", "*"),
}
"""label, colour and marker of a mechanism"""
LINES = {"edge": "-", "node": "--"}
HIGHEST = 30.0
"""Relative errors above are not shown, as in the paper."""
mpl.rcParams.update(
    {"font.size": 9, "svg.hashsalt": "recuse", "svg.fonttype": "none", "axes.grid": True, "grid.alpha": 0.3}
)


def draw(name: str, rows: PlotRows, folder: Path) -> list[Path]:
    """Draw a figure or write a table, and return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    return DRAWN[name](rows, folder / name)


def _mechanism(row: Mapping[str, Any]) -> str:
    """Return the name under which a mechanism is drawn: without its guess, the paper's μ left out."""
    return str(row["mechanism"]).partition("=")[0].removesuffix("-node")


# ------------------------------------------------------------------ random graphs


def _panels(
    by: str, label: str, value: str, unit: str, mechanisms: Sequence[str] = tuple(STYLES)
) -> Callable[[PlotRows, Path], list[Path]]:
    """Return the function that draws one panel a pattern, one line a mechanism and kind of privacy."""

    def drawn(rows: PlotRows, path: Path) -> list[Path]:
        patterns = list(dict.fromkeys(row["pattern"] for row in rows))
        figure, axes = plt.subplots(
            1,
            len(patterns),
            figsize=(11, 5.6),
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
        for part, pattern in zip(axes[0], patterns, strict=True):
            for who, line in LINES.items():
                for mechanism in mechanisms:
                    title, colour, marker = STYLES[mechanism]
                    chosen = [
                        row
                        for row in rows
                        if (row["pattern"], row["protect"], _mechanism(row)) == (pattern, who, mechanism)
                    ]
                    if chosen:
                        points = medians(chosen, by, value)
                        style = {"color": colour, "markersize": 5, "linewidth": 1.2}
                        part.plot(
                            points.keys(), points.values(), line + marker, label=f"{title} ({who})", **style
                        )
            part.set_title(f"{pattern}s")
            part.set_yscale("log")
            part.set_xscale("log")
            ticks = sorted({float(row[by]) for row in rows})
            part.set_xticks(ticks, labels(ticks, logarithmic=True))
            part.minorticks_off()
            part.set_xlabel(label)
        if value != "cpu_seconds":
            low = min(float(row[value]) for row in rows if float(row[value]) > 0)
            axes[0][0].set_ylim(max(1e-3, low / 1.5), HIGHEST)
        axes[0][0].set_ylabel(unit)
        legend_below(figure, axes, 2 if value == "cpu_seconds" else 3)
        return save(figure, path)

    return drawn


# ------------------------------------------------------------------ real graphs


def _real_table(rows: PlotRows, path: Path) -> list[Path]:
    graphs = list(dict.fromkeys(row["graph"] for row in rows))
    lines = [
        "| graph | nodes | edges (paper) | triangles (paper) | node: paper, its mechanism here, our default "
        "| edge: paper, its mechanism here, our default |",
        "|---|---|---|---|---|---|",
    ]
    for graph in graphs:
        found = {(row["protect"], _mechanism(row)): row for row in rows if row["graph"] == graph}
        first = next(iter(found.values()))
        times = [
            f"{found[who, 'paper']['paper_seconds']:,.2f} s, {found[who, 'paper']['cpu_seconds']:.2f} s, "
            f"{found[who, 'selective']['cpu_seconds']:.2f} s"
            for who in ("node", "edge")
        ]
        lines.append(
            f"| {graph} | {first['nodes']:,} | {first['edges']:,} ({first['paper_edges']:,}) "
            f"| {first['triangles']:,} ({first['paper_triangles']:,}) | {times[0]} | {times[1]} |"
        )
    target = path.with_suffix(".md")
    target.write_text("\n".join(lines) + "\n")
    return [target]


def _real_errors(rows: PlotRows, path: Path) -> list[Path]:
    graphs = list(dict.fromkeys(row["graph"] for row in rows))
    bars = [
        (who, mechanism)
        for who in LINES
        for mechanism in STYLES
        if any(row["protect"] == who and _mechanism(row) == mechanism for row in rows)
    ]
    figure, axes = plt.subplots(figsize=(11, 5.6), layout="constrained")
    width = 0.85 / len(bars)
    for place, (who, mechanism) in enumerate(bars):
        title, colour, _ = STYLES[mechanism]
        heights = [
            next(
                float(row["median_relative_error"])
                for row in rows
                if (row["graph"], row["protect"], _mechanism(row)) == (graph, who, mechanism)
            )
            for graph in graphs
        ]
        axes.bar(
            np.arange(len(graphs)) + (place - len(bars) / 2 + 0.5) * width,
            heights,
            width,
            color=colour,
            hatch="" if who == "edge" else "///",
            edgecolor="white",
            linewidth=0.3,
            label=f"{title} ({who})",
        )
    axes.set_yscale("log")
    axes.set_ylim(1e-3, HIGHEST)
    axes.set_axisbelow(True)
    axes.set_xticks(np.arange(len(graphs)), graphs)
    axes.set_ylabel("median relative error")
    axes.set_xlabel("graph")
    legend_below(figure, [axes], 3)
    return save(figure, path)


# ------------------------------------------------------------------ random relations


def _relations(by: str, label: str) -> Callable[[PlotRows, Path], list[Path]]:
    """Return the function that draws error and time, a column a kind of expression."""

    def drawn(rows: PlotRows, path: Path) -> list[Path]:
        kinds = list(dict.fromkeys(row["kind"] for row in rows))
        figure, axes = plt.subplots(
            2, len(kinds), figsize=(9, 7.2), sharex=True, sharey="row", squeeze=False, layout="constrained"
        )
        for column, kind in enumerate(kinds):
            for weights, line in (("constant", "-"), ("random", "--")):
                for mechanism in ("selective", "paper"):
                    title, colour, marker = STYLES[mechanism]
                    chosen = [
                        row
                        for row in rows
                        if (row["kind"], row["weights"], row["mechanism"]) == (kind, weights, mechanism)
                    ]
                    for place, value in enumerate(("median_relative_error", "cpu_seconds")):
                        points = medians(chosen, by, value)
                        axes[place][column].plot(
                            points.keys(),
                            points.values(),
                            line + marker,
                            color=colour,
                            label=f"{title}, {weights} q(t)",
                            markersize=5,
                        )
                dotted = medians([row for row in rows if row["kind"] == kind and row["weights"] == weights],
                                  by, "us_over_epsilon")  # fmt: skip
                axes[0][column].plot(
                    dotted.keys(),
                    dotted.values(),
                    ":",
                    color="black" if weights == "constant" else "gray",
                    label=f"US/ε, {weights} q(t)",
                )
            axes[0][column].set_title(kind)
            axes[1][column].set_xlabel(label)
        ticks = sorted({float(row[by]) for row in rows})
        for part in np.ravel(axes):
            part.set_yscale("log")
            if by == "size":
                part.set_xscale("log")
            part.set_xticks(ticks, labels(ticks, logarithmic=by == "size"))
            part.minorticks_off()
        axes[0][0].set_ylabel("median relative error")
        axes[1][0].set_ylabel("running time (processor seconds)")
        legend_below(figure, axes, 3)
        return save(figure, path)

    return drawn


# ------------------------------------------------------------------ R2T's tables


def _r2t_graphs(rows: PlotRows, path: Path) -> list[Path]:
    titles = {
        "selective": "Recuse's default",
        "paper": "the paper's mechanism",
        "r2t": "R2T, base 2",
        "r2t-5.5": "R2T, base 5.5",
        "opt2": "OPT²",
        "lp": "linear program",
        "naive": "naive truncation",
    }
    lines = [
        f"| graph | query | answer | {' | '.join(titles.values())} |",
        "|---" * (3 + len(titles)) + "|",
    ]
    for graph, pattern in dict.fromkeys((row["graph"], row["pattern"]) for row in rows):
        found = {_mechanism(row): row for row in rows if (row["graph"], row["pattern"]) == (graph, pattern)}
        shown = " | ".join(f"{found[m]['trimmed_relative_error']:.3%}" for m in titles)
        lines.append(f"| {graph} | {pattern} | {found['r2t']['true_value']:,.0f} | {shown} |")
    target = path.with_suffix(".md")
    target.write_text("\n".join(lines) + "\n")
    return [target]


def _r2t_tpch(rows: PlotRows, path: Path) -> list[Path]:
    lines = [
        "| query | answer | R2T, published | R2T, base 5.5 | ratio | R2T, base 2 | OPT² | Recuse's default |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for question in dict.fromkeys(row["question"] for row in rows):
        found = {row["mechanism"]: row for row in rows if row["question"] == question}
        one = found["r2t-5.5"]
        error = one["trimmed_relative_error"]
        lines.append(
            f"| {question} | {one['true_value'] * one['unit']:,.0f} | {one['published']:.4%} | {error:.4%} "
            f"| {error / one['published']:.2f} | {found['r2t']['trimmed_relative_error']:.4%} "
            f"| {found['opt2']['trimmed_relative_error']:.5%} "
            f"| {found['selective']['trimmed_relative_error']:.5%} |"
        )
    target = path.with_suffix(".md")
    target.write_text("\n".join(lines) + "\n")
    return [target]


ERROR = "median_relative_error", "median relative error"
DRAWN: dict[str, Callable[[PlotRows, Path], list[Path]]] = {
    "error-vs-nodes": _panels("nodes", "number of nodes", *ERROR),
    "error-vs-degree": _panels("degree", "average degree", *ERROR),
    "error-vs-epsilon": _panels("epsilon", "privacy loss ε", *ERROR),
    "time-vs-nodes": _panels(
        "nodes", "number of nodes", "cpu_seconds", "running time (processor seconds)", ("selective", "paper")
    ),
    "real-graphs": _real_table,
    "real-graphs-error": _real_errors,
    "relations-vs-clauses": _relations("clauses", "clauses of an expression"),
    "relations-vs-size": _relations("size", "tuples, and as many participants"),
    "r2t-graphs": _r2t_graphs,
    "r2t-tpch": _r2t_tpch,
}
