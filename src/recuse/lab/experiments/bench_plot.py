"""The benchmark's picture: seconds against tuples, both logarithmic. Needs matplotlib."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt


def plot(folder: Path) -> Path:
    """Return the path of the picture made of a folder's `bench.json`."""
    rows = [row for row in json.loads((folder / "bench.json").read_text())["rows"] if "failed" not in row]
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for label, marker in (("nodes", "o"), ("edges", "s"), ("triples", "-"), ("3-DNF", "^"), ("3-CNF", "v")):
        chosen = sorted((row["tuples"], row["index"] + row["answer"]) for row in rows if label in row["name"])
        axes.loglog(*zip(*chosen, strict=True), marker, label=f"{label}: r and X") if chosen else None
    for method in ("simplex", "pdlp"):
        full = [(row["tuples"], row[f"full_{method}"]) for row in rows if f"ratio_{method}" in row]
        axes.loglog(*zip(*full, strict=True), "x", label=f"full programs ({method}): r") if full else None
    axes.set_xlabel("tuples")
    axes.set_ylabel("seconds (2 cores)")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
    target = folder / "bench.png"
    figure.savefig(target, dpi=150)
    plt.close(figure)
    return target


if __name__ == "__main__":
    plot(Path(sys.argv[1]))
