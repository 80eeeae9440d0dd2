"""Every figure and table of the paper, and ours beside them, by name; resumable."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

from recuse.errors import ParameterError
from recuse.lab.experiments import r2t_tpch, random_graphs, random_relations, real_graphs
from recuse.lab.experiments.figure import Figure, Setting
from recuse.lab.experiments.store import Store, StoredCell, StoredRow

__all__ = ["NAMES", "ReproductionStep", "Setting", "left_out", "reproduce"]

FIGURES = {
    figure.name: figure
    for figure in (
        *random_graphs.FIGURES,
        *real_graphs.FIGURES[:2],
        *random_relations.FIGURES,
        *real_graphs.FIGURES[2:],
        *r2t_tpch.FIGURES,
    )
}
NAMES = (*FIGURES, "all")


@dataclass(frozen=True, slots=True)
class ReproductionStep:
    """One figure under way: the cells that are still to be measured, and what to do when they are."""

    figure: Figure
    setting: Setting
    store: Store
    wanted: Sequence[StoredCell]
    cells: Sequence[StoredCell]

    @property
    def name(self) -> str:
        """The figure's name."""
        return self.figure.name

    def run(self, jobs: int) -> Iterator[StoredCell]:
        """Measure the cells, as many at a time as there are jobs, and yield each when its rows are kept.

        Figures name their largest cells last; here they come first, so that no job waits for another's.
        """
        largest_first = self.cells[::-1]
        if jobs == 1:
            for cell in largest_first:
                self.store.add(cell, *measured(self.name, cell, self.setting))
                yield cell
            return
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            waiting = {pool.submit(measured, self.name, cell, self.setting): cell for cell in largest_first}
            try:
                for future in as_completed(waiting):
                    self.store.add(waiting[future], *future.result())
                    yield waiting[future]
            finally:
                pool.shutdown(cancel_futures=True)

    @property
    def seconds(self) -> float:
        """How many processor seconds all cells took."""
        return self.store.seconds(self.wanted)

    def finish(self) -> list[Path]:
        """Write tables and plots of all cells, and return where they are."""
        rows = self.store.rows(self.wanted)
        draw = _drawing()
        return [*self.store.export(rows), *draw(self.name, rows, self.store.folder)]


def measured(name: str, cell: StoredCell, setting: Setting) -> tuple[list[StoredRow], float]:
    """Return the rows of a cell of a figure, and how many processor seconds they took."""
    started = time.process_time()
    return list(FIGURES[name].measure(cell, setting)), time.process_time() - started


def reproduce(name: str, setting: Setting) -> Iterator[ReproductionStep]:
    """Yield what a name stands for, one figure after the other; `all` leaves out what has no data here."""
    if name not in NAMES:
        raise ParameterError("there is no such figure", found=name, accepted=", ".join(NAMES))
    _drawing()  # better to fail now than after an hour
    without = left_out(setting) if name == "all" else {}
    for figure in FIGURES.values() if name == "all" else [FIGURES[name]]:
        if figure.name in without:
            continue
        wanted = figure.cells(setting)
        store = Store(setting.out / figure.name)
        yield ReproductionStep(figure, setting, store, wanted, store.missing(wanted))


def left_out(setting: Setting) -> dict[str, ParameterError]:
    """Return the figures that have no data here, and what they need."""
    found = {}
    for figure in FIGURES.values():
        try:
            figure.cells(setting)
        except ParameterError as needs:
            found[figure.name] = needs
    return found


def _drawing() -> Callable[[str, Sequence[StoredRow], Path], list[Path]]:
    """Return the function that draws; matplotlib is optional."""
    try:
        module = import_module("recuse.lab.experiments.plots")
    except ImportError:
        raise ParameterError("plots need matplotlib", hint="pip install recuse[plots]") from None
    draw: Callable[[str, Sequence[StoredRow], Path], list[Path]] = module.draw
    return draw
