"""Hypothesis strategies that the laws share: annotations, relations and withdrawals, all small."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction

from hypothesis import strategies as st

from recuse.annotation import Annotation, Participant, at_least, conjunction, disjunction, threshold
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


def _need(children: st.SearchStrategy[Annotation]) -> st.SearchStrategy[Annotation]:
    """Return ANDs, ORs, thresholds and sums that are compared, over one to four children."""

    def needing(build: Callable[..., Annotation]) -> st.SearchStrategy[Annotation]:
        counted = st.lists(st.tuples(children, st.integers(1, 5)), min_size=1, max_size=4)
        return st.tuples(counted, st.integers(1, 9)).map(
            lambda made: build([k for k, _ in made[0]], [u for _, u in made[0]], made[1])
        )

    each = st.lists(children, min_size=2, max_size=4).flatmap(
        lambda parts: st.integers(1, len(parts)).map(lambda k: threshold(parts, [1] * len(parts), k))
    )
    return each | needing(threshold) | needing(at_least) | _nest(children)


thresholds: st.SearchStrategy[Annotation] = st.recursive(participants, _need, max_leaves=7)
"""nested expressions in which nodes need several of their children, repeats allowed"""

LOADED = (Shape.CONJUNCTIONS, Shape.CLAUSES, Shape.TREES)
"""the shapes that have loads"""
BY_SHAPE = {
    Shape.CONJUNCTIONS: clauses,
    Shape.CLAUSES: clause_sets,
    Shape.TREES: trees,
    Shape.THRESHOLDS: thresholds,
}


def relations(
    *shapes: Shape, signed: bool = False, largest: int = 4, rows: int = 6
) -> st.SearchStrategy[KRelation]:
    """Return relations of any of the shapes (those with loads, if none is named), small integer weights."""

    def of(shape: Shape) -> st.SearchStrategy[KRelation]:
        weights = st.integers(-largest if signed else 1, largest)
        build: Callable[..., KRelation] = lambda pairs: from_expressions(pairs, shape, signed=signed)  # noqa: E731
        return st.lists(st.tuples(BY_SHAPE[shape], weights), max_size=rows).map(build)

    return st.sampled_from(shapes or LOADED).flatmap(of)


fractions = st.integers(0, 8).map(lambda eighths: Fraction(eighths, 8))
withdrawals: st.SearchStrategy[dict[Hashable, Fraction]] = st.fixed_dictionaries(
    dict.fromkeys(NAMES, fractions)
)
"""a withdrawal of everybody, in eighths: exact arithmetic"""
