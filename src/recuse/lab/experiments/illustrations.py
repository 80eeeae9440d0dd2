"""The pictures of the guides: what an answer is like, what it costs in accuracy, what truncation does.

`python -m recuse.lab.experiments.illustrations --out docs/images` draws them anew, from seeds. The data is
made, so that true answers may be shown. Needs matplotlib.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pyarrow

from recuse.engines.bare import bare
from recuse.examples import SEED, MadeTable, policy_text, shop
from recuse.lab.experiments.axes import DOTS
from recuse.lab.experiments.simulated import SimulatedNoise
from recuse.policy import Policy
from recuse.session.answer import Answer
from recuse.session.parts import Parts
from recuse.session.session import connect

INK, TRUE, CUT = "tab:blue", "0.75", "tab:red"
BY_MONTH = "SELECT month(day) AS month, COUNT(*) AS orders FROM orders GROUP BY 1 ORDER BY 1"
QUESTIONS = {
    "COUNT(*) of orders": "SELECT COUNT(*) FROM orders",
    "SUM(quantity * price)": "SELECT SUM(quantity * price) FROM line",
    "customers with more than 5 orders": "SELECT COUNT(*) FROM customer c "
    "WHERE (SELECT COUNT(*) FROM orders o WHERE o.customer = c.id) > 5",
}
LOSSES = ("0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10")
PEOPLE = (100, 300, 1_000, 3_000, 10_000, 30_000)
RUNS = 15
Frames = Mapping[str, pyarrow.Table]


def shop_of(people: int) -> Frames:
    """Return the tables of the example's shop, with so many customers."""
    return {table.name: _frame(table) for table in shop(np.random.default_rng(SEED), people)}


def _frame(table: MadeTable) -> pyarrow.Table:
    made = pyarrow.table(
        dict(zip(table.columns, (np.array(column) for column in zip(*table.rows, strict=True)), strict=True))
    )
    price = pyarrow.field("price", pyarrow.decimal128(9, 2))
    return made.cast(pyarrow.schema([price if one.name == "price" else one for one in made.schema]))


def asked(frames: Frames, sql: str, epsilon: str, seed: int) -> Answer:
    """Return one answer, with a budget of its own and noise from a seed."""
    policy = Policy.parse(policy_text("shop"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there are few people is what one picture is about
        with connect(frames, policy, parts=Parts(noise=SimulatedNoise(seed))) as session:
            return session.ask(sql, epsilon)


def answers(out: Path) -> None:
    """Draw orders by month as they are answered at three losses, beside the true ones."""
    frames, losses = shop_of(1_500), ("0.1", "1", "10")
    figure, panels = plt.subplots(1, len(losses), figsize=(9, 3), sharey=True, layout="constrained")
    months = np.array([day.month for day in frames["orders"]["day"].to_pylist()])
    truth = [int((months == month).sum()) for month in range(1, 13)]
    for panel, loss in zip(panels, losses, strict=True):
        cells = [row.cells[0] for row in asked(frames, BY_MONTH, loss, seed=4).rows if row.keys[0]]
        values = [float(cell.value or 0) for cell in cells]
        ends = np.array([[float(end or 0) for end in cell.interval] for cell in cells])
        reach = np.abs(ends.T - values)
        panel.bar(range(1, 13), truth, color=TRUE, label="true")
        panel.errorbar(range(1, 13), values, reach, fmt="o", color=INK, ms=4, lw=1, label="answered, 95 %")
        panel.set(title=f"ε = {loss}", xlabel="month", xticks=range(1, 13), ylim=(0, 2 * max(truth)))
    panels[0].set_ylabel("orders")
    panels[1].legend(loc="upper left", fontsize=8)
    _save(figure, out / "answers-by-epsilon.png")


def errors(out: Path) -> None:
    """Draw the error of three questions against the loss, and against how many people there are."""
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
    frames = shop_of(1_500)
    for name, sql in QUESTIONS.items():
        panels[0].plot(
            [float(loss) for loss in LOSSES], [_error(frames, sql, loss) for loss in LOSSES], "o-", label=name
        )
        panels[1].plot(PEOPLE, [_error(shop_of(people), sql, "1") for people in PEOPLE], "o-", label=name)
    panels[0].set(
        xscale="log",
        yscale="log",
        xlabel="ε, with 1,500 customers",
        ylabel="median error, part of the answer",
    )
    panels[1].set(xscale="log", xlabel="customers, at ε = 1")
    for panel in panels:
        panel.grid(alpha=0.3)
    panels[0].legend(fontsize=8)
    _save(figure, out / "error-by-epsilon-and-people.png")


def _error(frames: Frames, sql: str, epsilon: str) -> float:
    truth = _truth(frames, sql)
    found = [float(asked(frames, sql, epsilon, seed)) for seed in range(RUNS)]
    return float(np.median(np.abs(np.array(found) - truth)) / truth) or np.nan  # no zero on this scale


def _truth(frames: Frames, sql: str) -> float:
    with bare() as connection:
        for name, frame in frames.items():
            connection.register(name, frame)
        (found,) = connection.execute(sql).fetchone() or (0,)
    return float(found)


def truncation(out: Path) -> None:
    """Draw what is cut off at a level, and how much the answer loses and gains by that level."""
    loads = np.sort(np.minimum(np.random.default_rng(SEED).zipf(2.1, 1_500), 150))[::-1]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    shown, tau = loads[:60], 16
    places = np.arange(1, len(shown) + 1)
    left.bar(places, np.minimum(shown, tau), color=INK, width=0.9, label="counted")
    left.bar(
        places,
        np.maximum(shown - tau, 0),
        bottom=np.minimum(shown, tau),
        color=CUT,
        alpha=0.5,
        width=0.9,
        label="cut off",
    )
    left.axhline(tau, color="black", lw=1, ls="--")
    left.annotate(f"τ = {tau}", (45, tau), xytext=(0, 4), textcoords="offset points")
    left.set(xlabel="the 60 customers with most orders", ylabel="orders")
    left.legend()
    levels = 2.0 ** np.arange(0, 9)
    kept = np.array([np.minimum(loads, level).sum() for level in levels])
    reach = levels * np.log(20)
    right.axhline(loads.sum(), color="black", lw=1, ls="--", label="true answer")
    right.plot(levels, kept, "o-", color=CUT, label="after truncation at τ")
    right.fill_between(
        levels, kept - reach, kept + reach, color=INK, alpha=0.2, label="with noise, 95 % (ε = 1)"
    )
    right.set(xscale="log", xlabel="τ", ylabel="number of orders", ylim=(0, 1.6 * loads.sum()))
    right.legend(fontsize=8, loc="upper left")
    _save(figure, out / "truncation.png")


def protection(out: Path) -> None:
    """Draw which graphs cannot be told apart: without one edge, or without a person and all their edges."""
    angles = np.linspace(0, 2 * np.pi, 8)[:-1] + np.pi / 2
    spots = {name: (np.cos(angle), np.sin(angle)) for name, angle in zip("ABCDEFG", angles, strict=True)}
    edges = ["AB", "AC", "AD", "AF", "AG", "BC", "CD", "DE", "EF", "FG", "CF"]
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
    hidden = {
        "edge privacy: one connection is hidden": ({"AD"}, set()),
        "node privacy: a person is hidden, with all connections": (
            {edge for edge in edges if "A" in edge},
            {"A"},
        ),
    }
    for panel, (title, (lines, people)) in zip(panels, hidden.items(), strict=True):
        for edge in edges:
            gone = edge in lines
            (x, y), (u, v) = (spots[name] for name in edge)
            panel.plot(
                [x, u],
                [y, v],
                color=CUT if gone else "0.5",
                ls="--" if gone else "-",
                lw=2 if gone else 1,
                zorder=1,
            )
        for name, (x, y) in spots.items():
            gone = name in people
            panel.scatter(
                x,
                y,
                s=380,
                color="white",
                edgecolor=CUT if gone else INK,
                ls="--" if gone else "-",
                lw=2,
                zorder=2,
            )
            panel.annotate(name, (x, y), ha="center", va="center", zorder=3)
        panel.set(xlim=(-1.3, 1.3), ylim=(-1.2, 1.3), aspect="equal")
        panel.set_title(title, fontsize=10)
        panel.axis("off")
    _save(figure, out / "edges-or-nodes.png")


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, dpi=DOTS)
    plt.close(figure)


DRAWN: dict[str, Callable[[Path], None]] = {
    "answers": answers,
    "errors": errors,
    "truncation": truncation,
    "protection": protection,
}


def main() -> None:
    """Draw the pictures that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which pictures: {', '.join(DRAWN)}; all unless named")
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    chosen = parser.parse_args()
    for name in chosen.names or DRAWN:
        DRAWN[name](chosen.out)


if __name__ == "__main__":
    main()
