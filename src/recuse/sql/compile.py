"""Text + policy + catalogue → `Plan`: the SQL that returns every derivation, and what to make of it.

    parse ─ read ─ PASSES ─ derive

Nothing here touches data, and nothing depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp
from sqlglot.errors import SqlglotError

from recuse.errors import QueryError
from recuse.krelation.relation import Shape
from recuse.policy import Key, Policy
from recuse.sql.catalogue import Catalogue
from recuse.sql.complete import complete_links
from recuse.sql.derivation import shape_of
from recuse.sql.derive import derive
from recuse.sql.disjoint import groups_are_disjoint, undeclared_keys
from recuse.sql.domains import domain_queries
from recuse.sql.ends import KeyEnd, rows_with_keys
from recuse.sql.explain import Explanation, FirstNote, TableNote, explain
from recuse.sql.finish import Shown
<<<<<<< HEAD
from recuse.sql.formula import ShownKey
=======
from recuse.sql.formula import FinishingStep, ShownKey, Term, largest_rows
>>>>>>> e777f04 (The largest of many groups are drawn: ORDER BY COUNT(*) DESC LIMIT k)
from recuse.sql.grouping import Grouping, grouping_of
from recuse.sql.groups import Joined
from recuse.sql.kinds import kind_of
from recuse.sql.loads import load_bound
from recuse.sql.lower import written_out
from recuse.sql.measure import Measure
from recuse.sql.met import Met
from recuse.sql.native.question import PublicQuery, public_query
from recuse.sql.ownership import own
from recuse.sql.parse import parse
from recuse.sql.passes import Pass, drop_equal_owners, settle_public, split_signs, weigh_rows
from recuse.sql.plan import DerivationQuery, FirstPlan, Plan, compiled_sql
from recuse.sql.read import read
from recuse.sql.reading import Reading
from recuse.sql.schema import Schema
from recuse.sql.sharing import Sharing, sharing_of, sharing_words
from recuse.sql.touch import touches_of
from recuse.sql.unique import join_unique

PASSES: tuple[Pass, ...] = (
    settle_public,
    split_signs,
    join_unique,
    complete_links,
    drop_equal_owners,
    weigh_rows,
)


<<<<<<< HEAD
=======
@dataclass(frozen=True, slots=True)
class DerivationQuery:
    """One aggregate: the tables whose rows are its derivations, and the form of their annotations.

    `plain` is the aggregate as it was understood, for an engine to check that it agrees; it is never run.
    """

    tables: tuple[DerivationTable, ...]
    plain: str
    shape: Shape
    aggregate: Aggregate
    granularity: Fraction
    sharing: Sharing
    signed: bool
    """whether rows may weigh less than nothing: follows from the query"""
    touches: tuple[Touch, ...] = ()
    """what every kind of owner decides of the keys"""
    bound: int | None = None
    """the most rows that a participant can own, where query and catalogue say so"""

    @property
    def is_owned(self) -> bool:
        """Whether a participant owns any row that it looks at."""
        return any(table.is_owned for table in self.tables)


@dataclass(frozen=True, slots=True)
class Plan:
    """What an engine runs for a question, and how its columns are made of the measures."""

    measures: tuple[DerivationQuery, ...]
    columns: tuple[Shown, ...]
    grouping: Grouping | None
    steps: tuple[FinishingStep, ...]
    """what is done with the rows once they are released"""
    firsts: tuple[FirstPlan, ...]
    """the numbers that are released before anything else; statements have places for them"""
    first_share: Fraction
    """the part of ε for all of them together, if people's rows are asked for after"""
    explanation: Explanation = field(compare=False, repr=False)
    asked: tuple[Measure, ...] = field(compare=False, repr=False)
    """the measures as they were read, for saying what is wrong with them"""
    text: str = field(compare=False, repr=False)
    dialect: Dialect = DUCKDB
    """in which its statements are written"""
    public: PublicQuery | None = None
    """a question about nobody that is run as it is; it has no measures then"""
    finding: DerivationQuery | None = None
    """the rows among which keys are found, with δ"""

    @property
    def is_number(self) -> bool:
        """Whether the question asks for one aggregate without groups."""
        return self.grouping is None and [type(shown.what) for shown in self.columns] == [Term]

    @property
    def largest(self) -> int | None:
        """How many groups are looked at, if they are those of the largest number: ORDER BY it DESC LIMIT k.

        Only where groups share people and all move the same way; elsewhere all of them are answered.
        """
        return _largest(self.measures, self.steps)

    @property
    def is_public(self) -> bool:
        """Whether no participant owns any row that the question looks at.

        Guarantee: the answer is then the same whoever withdraws. It costs nothing, and needs no noise.
        """
        return self.looks_at_nobody and all(first.plan.is_public for first in self.firsts)

    @property
    def looks_at_nobody(self) -> bool:
        """Whether no participant owns any row that its own statements look at, scalars aside."""
        return not any(measure.is_owned for measure in self.measures)

    def filled(self, values: Sequence[Fraction | None]) -> Plan:
        """Return the plan with numbers in its places: those of the first so many scalars."""
        kinds = [first.type for first in self.firsts]

        def fill(measure: DerivationQuery) -> DerivationQuery:
            tables = (_filled(table, values, kinds, self.dialect) for table in measure.tables)
            return replace(measure, tables=tuple(tables))

        return replace(
            self,
            measures=tuple(map(fill, self.measures)),
            finding=None if self.finding is None else fill(self.finding),
        )

    @property
    def statements(self) -> tuple[str, ...]:
        """What is run over private rows, each once."""
        found = () if self.finding is None else (self.finding,)
        return compiled_sql((*self.measures, *found))

    @property
    def single(self) -> DerivationQuery:
        """The only measure of a question that asks for one number."""
        (measure,) = self.measures
        return measure


@dataclass(frozen=True, slots=True)
class FirstPlan:
    """A number that is released first: its plan, its type, and how the question writes it."""

    plan: Plan
    type: Number
    text: str = field(compare=False)
    end: bool = False
    """whether it is an end of a key of GROUP BY, and does not stand in the question"""


>>>>>>> e777f04 (The largest of many groups are drawn: ORDER BY COUNT(*) DESC LIMIT k)
def compile_query(text: str, policy: Policy, catalogue: Catalogue) -> Plan:
    """Return the plan of an SQL question, or refuse it with place, reason and hint."""
    try:
        schema = schema_of(text, policy, catalogue)
        tree = parse(text, catalogue.dialect)
        try:
            return _compile(tree, policy, schema)
        except QueryError:
            public = public_query(tree, schema, Met(schema))
            if public is None:
                raise
            return _about_nobody(public, schema)
    except RecursionError:
        raise QueryError("the query is nested too deeply", hint="write it more simply") from None
    except SqlglotError:
        problem = f"the query cannot be written for {catalogue.dialect.name}"
        raise QueryError(problem, hint="write it more simply") from None


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
    grouping = grouping_of(question, measures, schema, policy) if question.keys else None
    compiled = tuple(
        _derivations(asked, measure, schema, policy, grouped=bool(question.keys))
        for asked, measure in zip(question.measures, measures, strict=True)
    )
    finding = _finding(question, schema, policy)
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
            sharing=[]
            if grouping is None
            else [_sharing_words(one, grouping, _largest(compiled, question.steps)) for one in compiled],
            sparing=_sparing(compiled, measures, policy),
            bounds=[one.bound for one in compiled if one.bound is not None],
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


def _largest(measures: Sequence[DerivationQuery], steps: tuple[FinishingStep, ...]) -> int | None:
    """Return how many of the largest groups of the only measure are wanted, if such groups are drawn."""
    count = largest_rows(steps)
    if count is None or len(measures) != 1:
        return None
    (measure,) = measures
    alike = measure.sharing is Sharing.TOGETHER and not measure.signed and not measure.aggregate.placed
    return count if alike else None


def _sharing_words(measure: DerivationQuery, grouping: Grouping, largest: int | None) -> str:
    """Return how the groups of a measure share ε."""
    said = sharing_words(measure.sharing, measure.touches, grouping.names, grouping.stated())
    if largest is None:
        return said
    return f"{said}; but where groups are many, the largest {largest} are drawn, and have a number each"


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
    return _derivations(asked, passed(asked, schema), schema, policy, grouped=True)


def schema_of(text: str, policy: Policy, catalogue: Catalogue) -> Schema:
    """Return what a text is read against."""
    ownership = own(policy, catalogue)
    schema = Schema(
        catalogue,
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
    return measure


def _derivations(
    asked: Measure, measure: Measure, schema: Schema, policy: Policy, *, grouped: bool
) -> DerivationQuery:
    if measure.aggregate.placed and any(block.sign < 0 for block in measure.blocks):
        problem = f"{measure.aggregate.word} of rows that others can take away is not answered"
        raise QueryError(problem, hint="ask for it without NOT, EXCEPT and outer joins of private tables")
    tables = derive(measure, schema.text, schema.catalogue.dialect)
    shape = shape_of(tables)
    if measure.aggregate.placed and shape is Shape.THRESHOLDS:
        problem = f"{measure.aggregate.word} of rows that a count of other rows decides is not answered"
        raise QueryError(problem, hint="ask how many of them lie above a value: COUNT(*) … WHERE x > 10")
    return DerivationQuery(
        tables=tables,
        plain=schema.catalogue.dialect.statement(written_out(asked, schema)),
        shape=shape,
        aggregate=measure.aggregate,
        granularity=measure.aggregate.granularity(schema),
        sharing=sharing_of(measure, tables, policy, grouped=grouped),
        signed=measure.signed,
        touches=touches_of(measure, tables, policy) if grouped else (),
        bound=load_bound(measure, policy) if shape is Shape.CONJUNCTIONS else None,
    )


def _sparing(compiled: Iterable[DerivationQuery], measures: list[Measure], policy: Policy) -> tuple[Key, ...]:
    """Return the keys that would put groups side by side if the policy declared them unique."""
    if not any(measure.sharing is Sharing.TOGETHER for measure in compiled):
        return ()
    keys = undeclared_keys(measures, policy)
    vouched = replace(policy, keys=(*policy.keys, *keys))
    return keys if all(groups_are_disjoint(measure, vouched) for measure in measures) else ()
