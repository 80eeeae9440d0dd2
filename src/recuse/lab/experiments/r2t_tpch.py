"""R2T's TPC-H table: its published errors, R2T as we run it, and our default mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing

from recuse.engines.collect import collect
from recuse.engines.open import open_engine
from recuse.lab.experiments.contestants import Asked
from recuse.lab.experiments.figure import OFTEN, Figure, Setting, errors, seed_of
from recuse.lab.experiments.store import StoredCell, StoredRow
from recuse.lab.experiments.tpch import QUESTIONS, policy_of
from recuse.sql.compile import compile_query

EPSILON = "0.8"
PUBLISHED: Mapping[str, float] = {
    "Q3": 0.00254,
    "Q12": 0.000229,
    "Q20": 0.00579,
    "Q5": 0.01626,
    "Q8": 0.0192,
    "Q21": 0.00654,
    "Q7": 0.00607,
    "Q11": 0.0182,
    "Q18": 0.00132,
    "Q10": 0.00174,
}
"""R2T's errors at scale 1 (Dong et al. 2022), trimmed means of ten runs"""
ONE_OWNER = ("Q3", "Q12", "Q18", "Q20", "Q10", "Q11")
MECHANISMS = ("r2t-5.5", "r2t", "opt2", "selective")


def cells(setting: Setting) -> list[StoredCell]:
    """Return the questions: all, or those with one owner a row, which need no linear program.

    Few τ are asked for, so that many answers cost little: the errors of a few would be a matter of luck.
    """
    return [
        {"question": name, "runs": OFTEN * setting.runs, "database": setting.database().name}
        for name in (PUBLISHED if setting.full else ONE_OWNER)
    ]


def measure(cell: StoredCell, setting: Setting) -> Iterator[StoredRow]:
    """Yield the errors of a question."""
    (question,) = (found for found in QUESTIONS if found.name == cell["question"])
    with closing(open_engine(setting.database())) as engine:
        plan = compile_query(question.sql, policy_of(question, engine), engine.catalogue())
        ((relation,),) = collect(engine, plan)
    asked = Asked(unit=1 / plan.single.granularity)
    for row in errors(relation, MECHANISMS, (EPSILON,), int(cell["runs"]), asked, seed_of(cell)):
        yield {**row, "published": PUBLISHED[question.name], "unit": float(plan.single.granularity)}


FIGURES = (Figure("r2t-tpch", cells, measure),)
