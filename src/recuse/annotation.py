"""Annotations: positive Boolean expressions over participants, and what the theory says of them.

This is the reference semantics: small, recursive, and exact on `Fraction` inputs. The columnar
`krelation` computes the same on millions of tuples and is judged against this module.

A *withdrawal* g maps participants to [0, 1]; a participant it does not name has withdrawn nothing (0).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

Real = int | float | Fraction
Withdrawal = Mapping[Hashable, Real]


@dataclass(frozen=True, slots=True)
class Participant:
    """The annotation of what one participant contributes alone."""

    name: Hashable

    def __str__(self) -> str:
        return str(self.name)


@dataclass(frozen=True, slots=True)
class And:
    """Present while all children are; no children: TRUE."""

    children: tuple[Annotation, ...]

    def __str__(self) -> str:
        return "(" + " ∧ ".join(map(str, self.children)) + ")" if self.children else "TRUE"


@dataclass(frozen=True, slots=True)
class Or:
    """Present while any child is; no children: FALSE."""

    children: tuple[Annotation, ...]

    def __str__(self) -> str:
        return "(" + " ∨ ".join(map(str, self.children)) + ")" if self.children else "FALSE"


@dataclass(frozen=True, slots=True)
class Threshold:
    """Present while the weights of the children that are present add up to `least`: whole numbers above 0."""

    children: tuple[Annotation, ...]
    weights: tuple[int, ...]
    least: int

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.children) or self.least < 1 or any(u < 1 for u in self.weights):
            raise ValueError("a threshold has one weight a child, and all its numbers are above 0")

    def __str__(self) -> str:
        counted = (f"{u}·{c}" if u > 1 else str(c) for u, c in zip(self.weights, self.children, strict=True))
        return f"({' + '.join(counted)} ≥ {self.least})"


Annotation = Participant | And | Or | Threshold

TRUE = And(())
FALSE = Or(())


# ------------------------------------------------------------------ building, with constants folded


def conjunction(*parts: Annotation) -> Annotation:
    """Return the AND of `parts`: x∧T → x, x∧F → F, nested ANDs flattened, nothing deduplicated."""
    if any(part == FALSE for part in parts):
        return FALSE
    flat = tuple(leaf for part in parts for leaf in (part.children if isinstance(part, And) else (part,)))
    return flat[0] if len(flat) == 1 else And(flat)


def disjunction(*parts: Annotation) -> Annotation:
    """Return the OR of `parts`: x∨F → x, x∨T → T, nested ORs flattened, nothing deduplicated."""
    if any(part == TRUE for part in parts):
        return TRUE
    flat = tuple(leaf for part in parts for leaf in (part.children if isinstance(part, Or) else (part,)))
    return flat[0] if len(flat) == 1 else Or(flat)


def threshold(parts: Sequence[Annotation], weights: Sequence[int], least: int) -> Annotation:
    """Return the threshold over `parts`: F is left out, T lowers what is needed, nothing is deduplicated.

    Weights may be 0: such a part does not count. One of least 1 is an OR.
    """
    counted = [(part, u) for part, u in zip(parts, weights, strict=True) if u and part != FALSE]
    least -= sum(u for part, u in counted if part == TRUE)
    left = [(part, u) for part, u in counted if part != TRUE]
    if least <= 0:
        return TRUE
    if sum(u for _, u in left) < least:
        return FALSE
    if least == 1:
        return disjunction(*(part for part, _ in left))
    return Threshold(tuple(part for part, _ in left), tuple(u for _, u in left), least)


def at_least(parts: Sequence[Annotation], values: Sequence[int], least: int) -> Annotation:
    """Return "the values of what is present add up to `least`": an OR of thresholds, coarse ones first.

    Guarantee: right for every set of participants; convex, non-increasing and natural (proofs.md, theorem
    Q2). Coarse levels give what lies far above the threshold gentle slopes. The list of levels follows from
    `least`, which the query states.
    """
    if least <= 0:
        return TRUE
    cut = [min(value, least) for value in values]
    return disjunction(
        *(threshold(parts, [j * value // least for value in cut], j) for j in threshold_levels(least))
    )


def threshold_levels(least: int) -> list[int]:
    """Return 1, 2, 4, … and `least` itself.

    >>> threshold_levels(20)
    [1, 2, 4, 8, 16, 20]
    """
    return [*(2**i for i in range((least - 1).bit_length())), least]


def replace(k: Annotation, name: Hashable, value: Annotation) -> Annotation:
    """Return `k` with every occurrence of the participant replaced, constants folded."""
    if isinstance(k, Participant):
        return value if k.name == name else k
    if isinstance(k, Threshold):
        return threshold([replace(child, name, value) for child in k.children], k.weights, k.least)
    build = conjunction if isinstance(k, And) else disjunction
    return build(*(replace(child, name, value) for child in k.children))


def withdraw(k: Annotation, name: Hashable) -> Annotation:
    """Return k|p→False: what is left of the annotation once the participant has left.

    >>> a, b = Participant("a"), Participant("b")
    >>> str(withdraw(disjunction(a, conjunction(a, b)), "b"))
    'a'
    """
    return replace(k, name, FALSE)


def leaves(k: Annotation) -> Iterator[Hashable]:
    """Yield the name of every leaf occurrence, repeats included."""
    if isinstance(k, Participant):
        yield k.name
    else:
        for child in k.children:
            yield from leaves(child)


def participants(k: Annotation) -> frozenset[Hashable]:
    """Return the names that occur in `k`."""
    return frozenset(leaves(k))


def holds(k: Annotation, present: Iterable[Hashable]) -> bool:
    """Return the truth value of `k` when exactly `present` take part."""
    there = frozenset(present)
    match k:
        case Participant(name):
            return name in there
        case And(children):
            return all(holds(child, there) for child in children)
        case Or(children):
            return any(holds(child, there) for child in children)
        case Threshold(children, weights, least):
            return sum(u for c, u in zip(children, weights, strict=True) if holds(c, there)) >= least


# ------------------------------------------------------------------ relaxation: loss, φ, kept


def loss(k: Annotation, g: Withdrawal) -> Real:
    """Return w_k(g): participant g_p; AND min(1, sum); OR min; TRUE 0; FALSE 1; a threshold `missing`."""
    match k:
        case Participant(name):
            return g.get(name, 0)
        case And(children):
            return min(1, sum((loss(child, g) for child in children), start=0))
        case Or(children):
            return min((loss(child, g) for child in children), default=1)
        case Threshold(children, weights, least):
            return missing([loss(child, g) for child in children], weights, least)


def missing(losses: Sequence[Real], weights: Sequence[int], least: int) -> Real:
    """Return the loss of a threshold: min(1, min_M Σ_M u_i w_i / (Σ_M u_i - least + 1)).

    The best M are children of the smallest losses, so prefixes of one order are enough.

    Guarantee: exact on rationals; of distinct participants with weight 1 no convex function that is right
    for every set of participants keeps more (proofs.md, theorem Q1).
    """
    best: Real = 1
    lost: Real = 0
    spare = 1 - least
    for w, u in sorted(zip(losses, weights, strict=True)):
        lost, spare = lost + u * w, spare + u
        if spare > 0:
            best = min(best, Fraction(lost, spare) if isinstance(lost, int | Fraction) else lost / spare)
    return best


def kept(k: Annotation, g: Withdrawal) -> Real:
    """Return z_k(g) = 1 - w_k(g)."""
    return 1 - loss(k, g)


def phi(k: Annotation, f: Withdrawal) -> Real:
    """Return the paper's φ_k(f), f = 1 - g the degrees of participation (a name it lacks takes no part)."""
    return kept(k, {name: 1 - f.get(name, 0) for name in participants(k)})


def static_sensitivity(k: Annotation, name: Hashable) -> int:
    """Return the paper's S_{k,p}. For comparison only: it is not natural (proofs.md, section 1)."""
    match k:
        case Participant(own):
            return int(own == name)
        case And(children):
            return sum(static_sensitivity(child, name) for child in children)
        case Or(children):
            return max((static_sensitivity(child, name) for child in children), default=0)
        case Threshold():
            raise TypeError("the paper has no thresholds")


# ------------------------------------------------------------------ local usage (the repair)


def usage(k: Annotation, name: Hashable, g: Withdrawal, context: Real = 0) -> Real:
    """Return u_{k,p}(g), the participant's local usage.

    `context` is what the siblings of the ANDs above have already lost. A leaf of p is worth
    (1 - g_p - context)⁺; AND adds, OR takes the largest.

    Guarantee: convex, non-increasing and natural in g (proofs.md, lemma 2).
    """
    match k:
        case Participant(own):
            return max(0, 1 - g.get(own, 0) - context) if own == name else 0
        case And(children):
            losses = [loss(child, g) for child in children]
            total = sum(losses, start=0)
            return sum(
                (usage(c, name, g, context + total - w) for c, w in zip(children, losses, strict=True)),
                start=0,
            )
        case Or(children):
            return max((usage(child, name, g, context) for child in children), default=0)
        case Threshold():
            raise TypeError("thresholds have no loads: select on the deficit")


def map_names(k: Annotation, rename: Callable[[Hashable], Hashable]) -> Annotation:
    """Return `k` with every participant renamed."""
    if isinstance(k, Participant):
        return Participant(rename(k.name))
    if isinstance(k, Threshold):
        return Threshold(tuple(map_names(child, rename) for child in k.children), k.weights, k.least)
    return type(k)(tuple(map_names(child, rename) for child in k.children))
