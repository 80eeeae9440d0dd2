"""The lines and the page of the benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

LABELS = {"load": "load", "enumerate": "enumerate", "relation": "build", "index": "r", "answer": "X"}
"""What the seconds in a cell are called in the table."""


BenchCell = dict[str, Any]


def growth(rows: list[BenchCell]) -> float | None:
    """Return the log-log slope of time against tuples over the random triples, if there are two of them."""
    family = [row for row in rows if row.get("name", "").startswith("triples") and "failed" not in row]
    if len(family) < 2:
        return None
    size = np.log([row["tuples"] for row in family])
    seconds = np.log([row["index"] + row["answer"] for row in family])
    return float(np.polyfit(size, seconds, 1)[0])


def line(row: BenchCell) -> str:
    """Return a row of the table."""
    if "failed" in row:
        return f"{row['name']:28} {row['failed']}"
    parts = [f"{row['name']:28} {row['tuples']:>9,} tuples"]
    parts += [f"{label} {row[key]:.2f} s" for key, label in LABELS.items() if key in row]
    parts.append(f"{row['megabytes']:.0f} MB")
    parts += [f"{row[key]} {key}" for key in ("masters", "cuts") if key in row]
    for method in ("simplex", "pdlp"):
        if f"ratio_{method}" in row:
            total, ratio = row[f"full_{method}"], row[f"ratio_{method}"]
            parts.append(f"full programs for r ({method}, from one): {total:.1f} s, {ratio:.0f} ×")
        elif f"full_{method}" in row:
            parts.append(f"one full program ({method}): {row[f'full_{method}']}")
    return "  ".join(parts)


def page(rows: list[BenchCell]) -> Iterator[str]:
    """Yield the lines of the table as performance.md has it."""
    yield f"| relation | tuples | {' | '.join(LABELS.values())} | memory | masters | cuts |"
    yield "|---" * (len(LABELS) + 5) + "|"
    for row in rows:
        if "failed" in row:
            yield f"| {row['name']} | {row['failed']} " + "| " * (len(LABELS) + 3) + "|"
            continue
        times = [f"{row[key]:.2f} s" if key in row else "" for key in LABELS]
        work = [str(row.get(key, "")) for key in ("masters", "cuts")]
        size, peak = f"{row['tuples']:,}", f"{row['megabytes']:,.0f} MB"
        yield f"| {' | '.join([row['name'], size, *times, peak, *work])} |"
