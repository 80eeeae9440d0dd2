"""Prime implicants of annotations: which sets of participants a tuple needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from functools import reduce
from itertools import combinations, product

from recuse.annotation import And, Annotation, Or, Participant, Threshold, conjunction, disjunction

Derivation = Counter[Hashable]


Primes = frozenset[frozenset[Hashable]]


def derivations(k: Annotation) -> list[Derivation]:
    """Return every derivation: one child picked at each OR, the leaves collected as a multiset.

    At a threshold the children that are enough, none of them idle: right for truth values, not for losses.
    """
    match k:
        case Participant(name):
            return [Counter([name])]
        case And(children):
            choices = product(*(derivations(child) for child in children))
            return [reduce(lambda left, right: left + right, choice, Counter()) for choice in choices]
        case Or(children):
            return [derivation for child in children for derivation in derivations(child)]
        case Threshold(children, weights, least):
            enough = (
                [children[i] for i in chosen]
                for size in range(1, len(children) + 1)
                for chosen in combinations(range(len(children)), size)
                if least <= (total := sum(weights[i] for i in chosen))
                and total - min(weights[i] for i in chosen) < least
            )
            return [derivation for chosen in enough for derivation in derivations(And(tuple(chosen)))]


def primes(k: Annotation) -> Primes:
    """Return the prime implicants: derivations as sets, those that contain another absorbed."""
    clauses = {frozenset(derivation) for derivation in derivations(k)}
    return frozenset(c for c in clauses if not any(other < c for other in clauses))


def canonical(k: Annotation) -> Annotation:
    """Return the prime-implicant form of `k`, in one fixed order.

    >>> a, b = Participant("a"), Participant("b")
    >>> str(canonical(conjunction(a, disjunction(a, b))))
    'a'
    """
    clauses = sorted((sorted(clause, key=repr) for clause in primes(k)), key=repr)
    return disjunction(*(conjunction(*map(Participant, clause)) for clause in clauses))
