"""A graph session: a graph with its ledger, of which subgraph counts are asked.

    pattern ─read→ Count ─charge→ ledger ─list or aggregate→ relation ─mechanism→ Release

A source that is no graph is refused when it is opened, a question before the ledger is charged; copies are
looked for only after. A stored answer is given again for nothing. What fails after the charge has one form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import numpy as np

from recuse.errors import ParameterError
from recuse.graphs.aggregate import Aggregate, k_stars, k_triangles
from recuse.graphs.count import Count, read_count
from recuse.graphs.datasets import located
from recuse.graphs.enumerate import count_copies
from recuse.graphs.explain import GraphExplanation, explain
from recuse.graphs.graph import Graph
from recuse.graphs.objects import graph_of_object
from recuse.graphs.protect import Protected
from recuse.graphs.read import read_graph
from recuse.krelation.relation import Shape
from recuse.ledger import Balance, Charged, Ledger, Question, Stored
from recuse.mechanism.mechanisms import DEFAULT, chosen, run
from recuse.mechanism.prepared import Prepared, prepare
from recuse.mechanism.release import Release
from recuse.privacy import Epsilon, Number
from recuse.session.answer import Answer, stamped
from recuse.session.answering import Parts, Rule
from recuse.session.cells import Combined, Row, evaluate
from recuse.session.fingerprint import fingerprint, program_version
from recuse.session.outward import after_charge
from recuse.session.place import Place
from recuse.session.stored import restored, written
from recuse.solver.aggregate import aggregate_programs
from recuse.solver.programs import Solver
from recuse.sql.formula import Constant, Operation, Operator, Term
from recuse.sql.render import render

BUDGET = 10
TRANSITIVITY = Operation(
    Operator.DIVIDE, Operation(Operator.MULTIPLY, Constant(Fraction(3)), Term(0)), Term(1)
)
"""three times the triangles, divided by the 2-stars"""


class GraphSession:
    """An open graph. Use `recuse.graph` to get one."""

    def __init__(
        self,
        graph: Graph,
        place: Place,
        grant: Epsilon,
        parts: Parts,
        analyst: str | None = None,
        about: str = "",
    ) -> None:
        self.place = place
        self.analyst = analyst
        self.ledger_is_new = False
        self.failures = parts.failures
        self._graph = graph
        self._grant = grant
        self._parts = parts
        self._about = about
        self._ledger: Ledger | None = None

    @property
    def ledger(self) -> Ledger:
        """The ledger, opened or created when it is first needed."""
        if self._ledger is None:
            self._ledger, self.ledger_is_new = self.place.open(self._grant)
        return self._ledger

    @property
    def has_ledger(self) -> bool:
        """Whether the ledger has been needed yet; refusals need none."""
        return self._ledger is not None

    @property
    def budget(self) -> Balance:
        """What is granted, spent and left: of the analyst who asks, else of the graph."""
        return self.ledger.balance(self.analyst)

    def explain(
        self, pattern: object, *, protect: str | Protected, where: str | None = None, induced: bool = False
    ) -> GraphExplanation:
        """Return what a count asks for and who owns each copy. It is free: no edge is looked at."""
        return explain(read_count(self._graph, pattern, protect, where, induced=induced))

    def count(
        self,
        pattern: object,
        *,
        protect: str | Protected,
        epsilon: Number,
        where: str | None = None,
        induced: bool = False,
        mechanism: str = DEFAULT,
    ) -> Release:
        """Return the private number of copies of a pattern, each matched subgraph counted once.

        Guarantee: ε-private towards every node with all its edges, or towards every edge, as `protect` says
        (docs/proofs.md, theorems R3 to R6); ε is charged before copies are looked for, and never refunded.
        Whatever fails after that is an `UnansweredError`.
        """
        count = read_count(self._graph, pattern, protect, where, induced=induced)
        loss = Epsilon.of(epsilon)
        rule = _rule(count, loss, mechanism)
        return cast(Release, self._ask([count], [rule], str(count), loss, lambda releases: releases[0]))

    def transitivity(self, *, protect: str | Protected, epsilon: Number) -> Answer:
        """Return 3 × triangles / 2-stars with the two counts, for one ε that they share evenly.

        The interval is a joint one: it holds the ratio of both truncated counts with probability 90 %.

        Guarantee: ε-private as `count`; the ratio is post-processing.
        """
        counts = [read_count(self._graph, name, protect) for name in ("triangle", "star(2)")]
        loss = Epsilon.of(epsilon)
        rules = [_rule(count, Epsilon(loss.value / 2), DEFAULT) for count in counts]
        text = f"transitivity, protecting every {counts[0].protect.value}"
        return cast(Answer, self._ask(counts, rules, text, loss, lambda found: _ratio(found, loss.value)))

    def _ask(
        self,
        counts: Sequence[Count],
        rules: Sequence[Rule],
        text: str,
        loss: Epsilon,
        arrange: Callable[[list[Release]], Release | Answer],
    ) -> Release | Answer:
        policy = fingerprint("graph policy", counts[0].protect.value)
        read = [self._graph.directed, self._about]
        key = fingerprint(
            "graph", program_version(), read, [_key(count) for count in counts], repr(list(rules))
        )
        paid = self.ledger.charge(Question(text, loss, key, policy, self.analyst, self.place.name))

        def answered(paid: Charged | Stored) -> Release | Answer:
            if isinstance(paid, Stored):
                found = restored(paid.answer)
            else:
                asked = zip(counts, rules, strict=True)
                found = arrange([self._release(count, rule) for count, rule in asked])
                self.ledger.store(paid, written(found))
            return stamped(
                found,
                remaining=paid.remaining,
                policy=policy,
                data_version=paid.data_version,
                stored=isinstance(paid, Stored),
            )

        return after_charge(lambda: answered(paid), self.failures)

    def _release(self, count: Count, rule: Rule) -> Release:
        """Return the private answer of one count. This is where the graph's edges are looked at."""
        release = run(prepared(self._graph, count, self._parts.solver), rule, self._parts.noise).rounded(
            signed=False
        )
        return replace(release, noise_epsilon=rule.answer_epsilon)

    def close(self) -> None:
        """Close the ledger."""
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None

    def __repr__(self) -> str:
        return f"<GraphSession on {self.place}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def prepared(graph: Graph, count: Count, solver: Solver) -> Prepared:
    """Return the relation of a count with its programs: all copies listed, or an aggregate of them."""
    pattern, protect = count.pattern, count.protect
    if not count.aggregated:
        listed = count_copies(graph, pattern, protect, count.condition, induced=count.induced)
        return prepare(listed, solver)
    aggregate = _aggregate(graph, count)
    return Prepared(aggregate, aggregate_programs(aggregate))


def _aggregate(graph: Graph, count: Count) -> Aggregate:
    if count.pattern.star is not None:
        return k_stars(graph, count.pattern.star, count.protect)
    return k_triangles(graph, count.pattern.book or 0, count.protect)


def _rule(count: Count, loss: Epsilon, mechanism: str) -> Rule:
    if not count.aggregated:
        return chosen(mechanism, loss, Shape.CONJUNCTIONS)
    nothing = Graph((), np.empty((0, 2), np.int64))  # how an aggregate grows follows from the count alone
    return chosen(mechanism, loss, _aggregate(nothing, count).shape)


def _key(count: Count) -> list[object]:
    """Return what the copies depend on: the pattern up to renaming, unless a condition names its nodes."""
    condition = None if count.condition is None else render(count.condition.scalar)
    pattern = count.pattern if count.condition is not None else count.pattern.canonical()
    return [str(pattern), count.protect.value, condition, count.induced]


def _ratio(releases: list[Release], epsilon: Fraction) -> Answer:
    """Return the transitivity with its two counts; a ratio of counts lies between 0 and 1."""
    found = cast(Combined, evaluate(TRANSITIVITY, releases))
    low, high = (None if end is None else min(max(end, Fraction(0)), Fraction(1)) for end in found.interval)
    ratio = replace(
        found,
        value=None if found.value is None else min(max(found.value, Fraction(0)), Fraction(1)),
        interval=(Fraction(0) if low is None else low, Fraction(1) if high is None else high),
    )
    return Answer((), ("transitivity", "triangles", "2-stars"), (Row((), (ratio, *releases)),), epsilon)


def graph(
    source: Any,
    *,
    nodes: Any = None,
    directed: bool | None = None,
    ledger: str | PathLike[str] | None = None,
    budget: Number = BUDGET,
    analyst: str | None = None,
    parts: Parts | None = None,
) -> GraphSession:
    """Return a session on a graph: a file, the name of a public one, or a graph object or edge table.

    `nodes` is a table about the nodes of an edge table. The ledger of a file lies beside it as `NAME.ledger`
    unless another is named; graphs in memory are counted in memory. `budget` is what a new ledger grants.
    """
    grant = Epsilon.of(budget)
    if isinstance(source, str | PathLike):
        file = located(fspath(source))
        about = None if nodes is None else _table_path(nodes)
        place, loaded = Place.of(file, ledger), read_graph(file, about, directed=directed)
    else:
        about, place = None, Place.of(None, ledger)
        loaded = graph_of_object(source, nodes, directed=directed)
    return GraphSession(loaded, place, grant, parts or Parts(), analyst, place.called(about))


def _table_path(nodes: object) -> Path:
    if not isinstance(nodes, str | PathLike):
        raise ParameterError("a file of edges takes a file of nodes", found=type(nodes).__name__)
    return Path(fspath(nodes))
