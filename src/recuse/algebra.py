"""Positive relational algebra on annotated relations, straight from the paper's section 2.3.

The judge in tests and a teaching tool: tuples are Python tuples, one annotation each. Union and
projection make ORs, joins make ANDs, and nothing is simplified beyond constants, so that the result is
the *syntactic* annotation of proofs.md, theorem A: withdrawing a participant from the inputs and
from the output gives the same expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from recuse.annotation import FALSE, Annotation, conjunction, disjunction, withdraw

AnnotatedRow = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class AnnotatedRelation:
    """A relation whose tuples carry annotations; tuples annotated FALSE are not in it."""

    attributes: tuple[str, ...]
    rows: Mapping[AnnotatedRow, Annotation]

    def __post_init__(self) -> None:
        if len(set(self.attributes)) != len(self.attributes):
            raise ValueError("an attribute is named twice")
        if any(len(row) != len(self.attributes) for row in self.rows):
            raise ValueError("a row does not fit the attributes")
        support = {row: k for row, k in self.rows.items() if k != FALSE}
        object.__setattr__(self, "rows", MappingProxyType(support))

    def position(self, attribute: str) -> int:
        """Return the column of an attribute."""
        return self.attributes.index(attribute)


def empty(attributes: Sequence[str]) -> AnnotatedRelation:
    """Return the relation without tuples."""
    return AnnotatedRelation(tuple(attributes), {})


def union(left: AnnotatedRelation, right: AnnotatedRelation) -> AnnotatedRelation:
    """Return R1 ∪ R2: a tuple of both is present if either is."""
    if set(left.attributes) != set(right.attributes):
        raise ValueError("a union needs the same attributes on both sides")
    order = [right.position(name) for name in left.attributes]
    rows = dict(left.rows)
    for row, k in right.rows.items():
        same = tuple(row[i] for i in order)
        rows[same] = disjunction(rows.get(same, FALSE), k)
    return AnnotatedRelation(left.attributes, rows)


def project(relation: AnnotatedRelation, attributes: Sequence[str]) -> AnnotatedRelation:
    """Return π_V R: a tuple is present if any tuple that projects to it is."""
    columns = [relation.position(name) for name in attributes]
    rows: dict[AnnotatedRow, Annotation] = {}
    for row, k in relation.rows.items():
        part = tuple(row[i] for i in columns)
        rows[part] = disjunction(rows.get(part, FALSE), k)
    return AnnotatedRelation(tuple(attributes), rows)


def select(relation: AnnotatedRelation, predicate: Callable[[Mapping[str, Any]], bool]) -> AnnotatedRelation:
    """Return σ_P R: the tuples for which the predicate holds, annotations unchanged."""
    kept = {
        row: k
        for row, k in relation.rows.items()
        if predicate(dict(zip(relation.attributes, row, strict=True)))
    }
    return AnnotatedRelation(relation.attributes, kept)


def join(left: AnnotatedRelation, right: AnnotatedRelation) -> AnnotatedRelation:
    """Return R1 ⋈ R2: tuples that agree on the common attributes, present if both are."""
    common = [name for name in left.attributes if name in right.attributes]
    extra = [name for name in right.attributes if name not in left.attributes]
    at_left = [left.position(name) for name in common]
    at_right = [right.position(name) for name in common]
    added = [right.position(name) for name in extra]
    partners: dict[AnnotatedRow, list[tuple[AnnotatedRow, Annotation]]] = {}
    for row, k in right.rows.items():
        partners.setdefault(tuple(row[i] for i in at_right), []).append((tuple(row[i] for i in added), k))
    rows = {
        (*row, *rest): conjunction(k, other)
        for row, k in left.rows.items()
        for rest, other in partners.get(tuple(row[i] for i in at_left), [])
    }
    return AnnotatedRelation((*left.attributes, *extra), rows)


def rename(relation: AnnotatedRelation, names: Mapping[str, str]) -> AnnotatedRelation:
    """Return ρ_β R: attributes renamed, one to one."""
    return AnnotatedRelation(tuple(names.get(name, name) for name in relation.attributes), relation.rows)


def intersect(left: AnnotatedRelation, right: AnnotatedRelation) -> AnnotatedRelation:
    """Return R1 ∩ R2: the natural join of relations with the same attributes."""
    if set(left.attributes) != set(right.attributes):
        raise ValueError("an intersection needs the same attributes on both sides")
    return join(left, right)


def product(left: AnnotatedRelation, right: AnnotatedRelation) -> AnnotatedRelation:
    """Return R1 × R2: the natural join of relations without common attributes."""
    if set(left.attributes) & set(right.attributes):
        raise ValueError("a product needs distinct attributes; rename first")
    return join(left, right)


def without(relation: AnnotatedRelation, participant: Hashable) -> AnnotatedRelation:
    """Return the relation after one participant has left."""
    return AnnotatedRelation(
        relation.attributes, {row: withdraw(k, participant) for row, k in relation.rows.items()}
    )
