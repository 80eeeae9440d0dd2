"""Hypothesis strategies that the laws share: annotations, relations and withdrawals, all small."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction

from hypothesis import strategies as st

from recuse.annotation import Annotation, Participant, conjunction, disjunction
from recuse.krelation.build import from_expressions
from recuse.krelation.relation import KRelation, Shape

NAMES = "abcdef"
people = st.sampled_from(NAMES)
participants: st.SearchStrategy[Annotation] = st.builds(Participant, people)


def _nest(children: st.SearchStrategy[Annotation]) -> st.SearchStrategy[Annotation]:
    several = st.lists(children, min_size=2, max_size=3)
    return several.map(lambda parts: conjunction(*parts)) | several.map(lambda parts: disjunction(*parts))


trees: st.SearchStrategy[Annotation] = st.recursive(participants, _nest, max_leaves=7)
"""nested expressions, repeats allowed"""

clauses: st.SearchStrategy[Annotation] = st.sets(people, min_size=1, max_size=3).map(
    lambda names: conjunction(*map(Participant, sorted(names)))
)
"""conjunctions of distinct participants"""

clause_sets: st.SearchStrategy[Annotation] = st.lists(clauses, min_size=1, max_size=3).map(
    lambda parts: disjunction(*parts)
)

BY_SHAPE = {Shape.CONJUNCTIONS: clauses, Shape.CLAUSES: clause_sets, Shape.TREES: trees}


def relations(
    *shapes: Shape, signed: bool = False, largest: int = 4, rows: int = 6
) -> st.SearchStrategy[KRelation]:
    """Return relations of any of the shapes (all, if none is named) with small integer weights."""

    def of(shape: Shape) -> st.SearchStrategy[KRelation]:
        weights = st.integers(-largest if signed else 1, largest)
        build: Callable[..., KRelation] = lambda pairs: from_expressions(pairs, shape, signed=signed)  # noqa: E731
        return st.lists(st.tuples(BY_SHAPE[shape], weights), max_size=rows).map(build)

    return st.sampled_from(shapes or tuple(Shape)).flatmap(of)


fractions = st.integers(0, 8).map(lambda eighths: Fraction(eighths, 8))
withdrawals: st.SearchStrategy[dict[Hashable, Fraction]] = st.fixed_dictionaries(
    dict.fromkeys(NAMES, fractions)
)
"""a withdrawal of everybody, in eighths: exact arithmetic"""
