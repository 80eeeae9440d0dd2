"""Text + policy + catalogue → `Plan`: the SQL that returns every derivation, and what to make of it.

    parse ─ read ─ PASSES ─ derive

Nothing here touches data, and nothing depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from fractions import Fraction

from sqlglot import exp
from sqlglot.errors import SqlglotError

from recuse.errors import QueryError
from recuse.krelation.relation import Shape
from recuse.policy import Key, Policy
from recuse.sql.catalogue import Catalogue
from recuse.sql.clock import at
from recuse.sql.complete import complete_links
from recuse.sql.derivation import shape_of
from recuse.sql.derive import derive
from recuse.sql.disjoint import groups_are_disjoint, undeclared_keys
from recuse.sql.domains import domain_queries
from recuse.sql.eager import ADDED_UP
from recuse.sql.ends import KeyEnd, rows_with_keys
from recuse.sql.explain import Explanation, FirstNote, TableNote, explain
from recuse.sql.finish import Shown
from recuse.sql.formula import ShownKey
from recuse.sql.grouping import grouping_of
from recuse.sql.groups import Joined
from recuse.sql.growth import refuse_untied, unique_keys
from recuse.sql.kinds import kind_of
from recuse.sql.loads import bound_words, load_bound, single_rows
from recuse.sql.lower import Compiled
from recuse.sql.measure import Measure
from recuse.sql.met import Met
from recuse.sql.native.question import PublicQuery, public_query
from recuse.sql.ownership import own
from recuse.sql.parse import parse
from recuse.sql.passes import Pass, drop_equal_owners, settle_public, split_signs, weigh_rows
from recuse.sql.plan import DerivationQuery, FirstPlan, Plan, compiled_sql, largest_groups, shared_words
from recuse.sql.position import called, refusal
from recuse.sql.read import read
from recuse.sql.reading import Reading
from recuse.sql.schema import Schema
from recuse.sql.sharing import Sharing, sharing_of
from recuse.sql.touch import touches_of
from recuse.sql.typical import is_sized, typical_value
from recuse.sql.unique import join_unique

PASSES: tuple[Pass, ...] = (
    settle_public,
    split_signs,
    join_unique,
    complete_links,
    drop_equal_owners,
    weigh_rows,
)


def compile_query(text: str, policy: Policy, catalogue: Catalogue, moment: datetime | None = None) -> Plan:
    """Return the plan of an SQL question, or refuse it with place, reason and hint.

    `moment` is when it is asked, for questions that speak of the present; without it they are refused.
    """
    try:
        return _plan_at(text, policy, catalogue, moment)
    except QueryError as error:
        error.text = text
        raise


def _plan_at(text: str, policy: Policy, catalogue: Catalogue, moment: datetime | None) -> Plan:
    try:
        schema = schema_of(text, policy, catalogue)
        tree = parse(text, catalogue.dialect)
        said = () if moment is None else at(tree, text, moment, catalogue.macros)
        plan = _plan_of(tree, policy, schema)
        return replace(plan, explanation=replace(plan.explanation, how=(*plan.explanation.how, *said)))
    except RecursionError:
        raise QueryError("the query is nested too deeply", hint="write it more simply") from None
    except SqlglotError:
        problem = f"the query cannot be written for {catalogue.dialect.name}"
        raise QueryError(problem, hint="write it more simply") from None


def _plan_of(tree: exp.Query, policy: Policy, schema: Schema) -> Plan:
    """Return the plan of a tree: about people, or run as it is if it is about nobody.

    Numbers about nobody are released as others are, exactly; of groups about nobody those are shown that have
    rows, so they are run as they are.
    """
    try:
        plan = _compile(tree, policy, schema)
    except QueryError:
        public = public_query(tree, schema, Met(schema))
        if public is None:
            raise
        return _about_nobody(public, schema)
    if plan.grouping is None or not plan.is_public:
        return plan
    try:
        public = public_query(tree, schema, Met(schema))
    except QueryError:  # words of our own, such as HISTOGRAM(x, [10, 20])
        return plan
    return plan if public is None else _about_nobody(public, schema)


def _about_nobody(public: PublicQuery, schema: Schema) -> Plan:
    """Return the plan of a question that an engine answers as it is: every column is shown as it comes."""
    columns = tuple(
        Shown(name, ShownKey(place), kind_of(kind))
        for place, (name, kind) in enumerate(zip(public.names, public.types, strict=True))
    )
    return Plan(
        measures=(),
        columns=columns,
        grouping=None,
        steps=(),
        firsts=(),
        first_share=Fraction(0),
        explanation=Explanation(
            firsts=(),
            questions=(schema.text,),
            understood=(schema.text,),
            tables=tuple(TableNote(alias, name, "public") for alias, name in public.tables),
            completed=(),
            owners=(),
            how=(),
            groups=(),
            epsilon=(),
            then=(),
            sql=(public.sql,),
        ),
        asked=(),
        text=schema.text,
        dialect=schema.catalogue.dialect,
        public=public,
    )


def _compile(tree: exp.Query, policy: Policy, schema: Schema) -> Plan:
    question = read(tree, schema)
    firsts: list[FirstPlan] = []
    for first in question.firsts:  # each has places for those before it
        firsts.append(
            FirstPlan(_plan(first.reading, schema, policy, firsts), first.type, first.text, first.end)
        )
    return _plan(question, schema, policy, firsts)


def _plan(question: Reading, schema: Schema, policy: Policy, firsts: Sequence[FirstPlan]) -> Plan:
    measures = [passed(measure, schema) for measure in question.measures]
    grouping = grouping_of(question, measures, schema, policy)
    once: Compiled = {}
    compiled = tuple(
        replace(
            _derivations(asked, measure, schema, policy, once, grouped=bool(question.keys_of(place))),
            place=place,
        )
        for place, asked, measure in zip(question.places(), question.measures, measures, strict=True)
    )
    finding, largest = _finding(question, schema, policy), largest_groups(compiled, question.steps)
    return Plan(
        measures=compiled,
        columns=question.columns,
        grouping=grouping,
        finding=finding,
        steps=question.steps,
        firsts=tuple(firsts),
        first_share=question.first_share,
        asked=question.measures,
        text=schema.text,
        dialect=schema.catalogue.dialect,
        explanation=explain(
            question,
            measures,
            compiled_sql(compiled),
            schema,
            sharing=list(shared_words(compiled, grouping, largest)),
            sparing=_sparing(compiled, measures, policy),
            said=list(_said(compiled)),
            firsts=[
                (
                    FirstNote(first.text, sum(one.is_owned for one in first.plan.measures), first.end),
                    first.plan.explanation,
                )
                for first in firsts
            ],
            finding=None if finding is None else finding.sharing,
        ),
    )


def _said(compiled: Iterable[DerivationQuery]) -> Iterator[str]:
    """Yield what is so of the rows of all measures: bounds on what one owns, and how they are added up."""
    for one in compiled:
        if one.bound is not None:
            yield bound_words(one.bound)
        if any(table.meant is not None for table in one.tables):
            yield ADDED_UP


def _finding(question: Reading, schema: Schema, policy: Policy) -> DerivationQuery | None:
    """Return the rows among which the keys are found that nothing says."""
    keys = [key for key in question.keys if key.origin is Joined.FOUND]
    if not keys:
        return None
    asked = Measure(
        KeyEnd(1),
        tuple(
            replace(
                rows_with_keys(block, exp.Literal.number(0)),
                keys=tuple(key.values[place] for key in keys),
                null_keys=frozenset(range(len(keys))),
            )
            for place, block in enumerate(question.frames)
        ),
        question.measures[0].known,
    )
    return _derivations(asked, passed(asked, schema), schema, policy, {}, grouped=True)


def schema_of(text: str, policy: Policy, catalogue: Catalogue) -> Schema:
    """Return what a text is read against."""
    ownership = own(policy, catalogue)
    schema = Schema(
        catalogue.declaring(
            {(one.table, name) for one in policy.nonnegative for name in one.columns},
            {(one.table, name): one.value for one in policy.typical for name in one.columns},
        ),
        ownership,
        policy.granularity,
        text,
        policy.domain_values(),
        finds_keys=policy.delta is not None,
    )
    return replace(schema, domain_queries=domain_queries(policy, schema))


def passed(measure: Measure, schema: Schema) -> Measure:
    """Return the measure after all passes."""
    for step in PASSES:
        measure = step(measure, schema)
    refuse_untied(measure, schema)
    return measure


def _derivations(
    asked: Measure, measure: Measure, schema: Schema, policy: Policy, once: Compiled, *, grouped: bool
) -> DerivationQuery:
    if measure.aggregate.placed and any(block.sign < 0 for block in measure.blocks):
        problem = f"{measure.aggregate.word} of rows that others can take away is not answered"
        hint = "ask for it without NOT, EXCEPT and outer joins of private tables"
        raise refusal(problem, schema.text, called(measure.aggregate.word, schema.text), hint=hint)
    tables = derive(measure, schema.text, schema.catalogue.dialect, unique_keys(policy), once)
    shape = shape_of(tables)
    if measure.aggregate.placed and shape is Shape.THRESHOLDS:
        problem = f"{measure.aggregate.word} of rows that a count of other rows decides is not answered"
        hint = "ask how many of them lie above a value: COUNT(*) … WHERE x > 10"
        raise refusal(problem, schema.text, called(measure.aggregate.word, schema.text), hint=hint)
    return DerivationQuery(
        tables=tables,
        shape=shape,
        aggregate=measure.aggregate,
        granularity=measure.aggregate.granularity(schema),
        sharing=sharing_of(measure, tables, policy, grouped=grouped),
        signed=measure.signed,
        touches=touches_of(measure, tables, policy) if grouped else (),
        bound=load_bound(measure, policy),
        typical=typical_value(asked),
        sized=is_sized(asked),
        single=single_rows(measure, policy),
    )


def _sparing(compiled: Iterable[DerivationQuery], measures: list[Measure], policy: Policy) -> tuple[Key, ...]:
    """Return the keys that would put groups side by side if the policy declared them unique."""
    if not any(measure.sharing is Sharing.TOGETHER for measure in compiled):
        return ()
    keys = undeclared_keys(measures, policy)
    vouched = replace(policy, keys=(*policy.keys, *keys))
    return keys if all(groups_are_disjoint(measure, vouched) for measure in measures) else ()
