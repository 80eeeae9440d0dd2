"""Annotations as the relaxation sees them: what must be equal for two relations to be solved alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from recuse.annotation import (
    And,
    Annotation,
    Or,
    Participant,
    Threshold,
    conjunction,
    disjunction,
    threshold,
)
from recuse.krelation.build import expressions
from recuse.krelation.relation import KRelation, Shape


def sorted_tree(k: Annotation) -> Annotation:
    """Return the annotation with nested nodes of one kind flattened and children in a fixed order."""
    if isinstance(k, Threshold):
        children = [(sorted_tree(child), u) for child, u in zip(k.children, k.weights, strict=True)]
        ordered = sorted(children, key=repr)
        return threshold([child for child, _ in ordered], [u for _, u in ordered], k.least)
    if not isinstance(k, And | Or):
        return k
    build, kind = (conjunction, And) if isinstance(k, And) else (disjunction, Or)
    flat = build(*map(sorted_tree, k.children))
    if not isinstance(flat, kind):
        return flat
    children = sorted(flat.children, key=repr)
    if kind is Or:
        children = list(dict.fromkeys(children))  # a derivation is one, however often it is listed
    return build(*children) if len(children) < len(flat.children) else kind(tuple(children))


def clause_set(k: Annotation) -> frozenset[frozenset[Hashable]]:
    """Return the derivations as sets of participants; none is absorbed, as the programs absorb none."""
    match k:
        case Participant(name):
            return frozenset([frozenset([name])])
        case Or(children):
            return frozenset().union(*map(clause_set, children))
        case And(children):
            found = frozenset([frozenset[Hashable]()])
            for child in children:
                found = frozenset(left | right for left in found for right in clause_set(child))
            return found
        case Threshold():
            raise ValueError("a threshold is no set of clauses")


def syntactic_rows(relation: KRelation) -> Counter[tuple[object, bool]]:
    """Return total weight by (annotation, sign): trees as they are built, others as sets of clauses."""
    form = sorted_tree if relation.shape not in (Shape.CONJUNCTIONS, Shape.CLAUSES) else clause_set
    found: Counter[tuple[object, bool]] = Counter()
    for k, weight in expressions(relation):
        found[form(k), weight > 0] += weight
    return found
