"""Axes, legends and files of the plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

PlotRows = Sequence[Mapping[str, Any]]


DOTS = 90


CHARACTER = 0.021
"""How wide a digit is, as a part of the axis of a narrow panel."""


def save(figure: Any, path: Path) -> list[Path]:
    paths = [path.with_suffix(".png"), path.with_suffix(".svg")]
    figure.savefig(paths[0], dpi=DOTS)
    figure.savefig(paths[1], metadata={"Date": None})
    plt.close(figure)
    return paths


def medians(rows: PlotRows, by: str, value: str) -> dict[float, float]:
    """Return the median of a value over all graphs, by another."""
    groups: dict[float, list[float]] = {}
    for row in rows:
        groups.setdefault(float(row[by]), []).append(float(row[value]))
    return {key: float(np.median(found)) for key, found in sorted(groups.items())}


def legend_below(figure: Any, axes: Any, columns: int) -> None:
    found: dict[str, Any] = {}
    for part in np.ravel(axes):
        for handle, label in zip(*part.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    labels = sorted(found, key=lambda label: label.endswith("(node)"))  # edge privacy first
    handles = [found[label] for label in labels]
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def labels(ticks: Sequence[float], *, logarithmic: bool) -> list[str]:
    """Return the numbers at an axis, the last one always, others where they do not run into the next."""
    words, places = [f"{tick:g}" for tick in ticks], np.log(ticks) if logarithmic else ticks
    width, upper = CHARACTER * (places[-1] - places[0]), len(ticks) - 1
    for i in range(len(ticks) - 2, -1, -1):
        if places[upper] - places[i] < width * ((len(words[i]) + len(words[upper])) / 2 + 1):
            words[i] = ""
        else:
            upper = i
    return words
