"""A row-wise expression, names resolved → a typed expression of the total language, or a refusal.

Accepted by allow-list: operators, CASE, casts to plain types, and the functions of `scalars.table`, which
look at nothing but their arguments. `docs/reference/functions.md` lists them for users.

It is longer than other files: one method for every form of SQL that is no plain call, and their table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import fold
from recuse.scalars import types
from recuse.scalars.alike import alike
from recuse.scalars.build import apply, bring
from recuse.scalars.expression import Constant, Expression, Query, Variable
from recuse.scalars.function import Mistyped
from recuse.scalars.literals import NULL, literal, number, text
from recuse.scalars.logic import truth
from recuse.scalars.spelling import spelled
from recuse.scalars.types import (
    Boolean,
    Float,
    Number,
    Text,
    Timestamp,
    Type,
    whole,
)
from recuse.sql.casts import cast_target
from recuse.sql.durations import duration_of, told
from recuse.sql.native.inner import Inner
from recuse.sql.placeholder import Released, place_of
from recuse.sql.position import refusal, span
from recuse.sql.reasons import LISTED, reason_of, written_name
from recuse.sql.spoken import OWN as OWN_NODE
from recuse.sql.spoken import holds_only, speaks

T = TypeVar("T")

Lookup = Callable[[exp.Expr], Variable]
"""the typed column that a resolved name means"""

_NUMBER = re.compile(r"(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?")
BROUGHT = "brought"
"""the argument in which a cast of our own making holds the type that it brings a value to"""


@dataclass(frozen=True, slots=True)
class Body:
    """What a subquery does: an aggregate over a row's operand, or a SELECT, as a word says."""

    word: str
    select: exp.Query | None = None


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked of a query that is run as it is: a word of `Inner`, and the types that are compared."""

    word: str
    query: object
    operator: str = ""
    kinds: tuple[Type, ...] = ()


def brought(node: exp.Expr, kind: Type, lookup: Lookup) -> exp.Expr:
    """Return a value that is brought to a type when it is compiled; itself where it has that type."""
    if Elaborator(lookup).expression(node).type == kind:
        return node
    target = exp.DataType.build(spelled(kind), dialect="duckdb")
    return exp.Cast(this=exp.paren(node.copy()), to=target, **{BROUGHT: kind})


def type_of(node: exp.Expr, lookup: Lookup) -> Type:
    """Return the type of a resolved expression that was accepted before."""
    return Elaborator(lookup).expression(node).type


@dataclass(frozen=True, slots=True)
class Elaborator:
    """The reader of expressions: `text` is what refusals point into, `macros` are the database's own."""

    lookup: Lookup
    text: str = ""
    macros: frozenset[str] = frozenset()

    def condition(self, node: exp.Expr) -> Expression:
        """Return a condition: what is no truth value is read as one."""
        found = self.expression(node)
        if isinstance(found.type, Boolean):
            return found
        return self._at(node, lambda: bring(found, truth([found], 0)))

    def expression(self, node: exp.Expr) -> Expression:
        """Return the typed expression, or refuse the part that is not understood."""
        if (duration := duration_of(node)) is not None:
            told_of = told(duration, self.expression(duration.until), self.expression(duration.since))
            if told_of is not None:
                return told_of
        special = SPECIAL.get(type(node))
        if special is not None and OWN_NODE not in node.args:
            return special(self, node)
        spoken = speaks(node)
        if spoken is None or self.is_macro(node):
            raise self.refused(node)
        name, arguments = spoken
        return self.call(name, arguments, node)

    def call(self, name: str, arguments: Sequence[exp.Expr], node: exp.Expr) -> Expression:
        """Return the call of a function of the table."""
        values = [self.expression(argument) for argument in arguments]
        return self.made(name, values, node, arguments)

    def made(
        self, name: str, values: Sequence[Expression], node: exp.Expr, arguments: Sequence[exp.Expr] = ()
    ) -> Expression:
        """Return the call of a function over typed arguments, refused where its mistake is."""
        try:
            return apply(name, *values)
        except Mistyped as mistake:
            inside = mistake.place is not None and mistake.place < len(arguments)
            place = arguments[mistake.place or 0] if inside else node
            raise self.refuse(mistake.problem, mistake.hint, place) from None
        except ValueError:
            raise self.refuse(f"{name} takes another number of arguments", LISTED, node) from None

    def _at(self, node: exp.Expr, make: Callable[[], T]) -> T:
        try:
            return make()
        except Mistyped as mistake:
            raise self.refuse(mistake.problem, mistake.hint, node) from None

    # -------------------------------------------------------------- leaves

    def literal(self, node: exp.Expr) -> Expression:
        """Return a number or text."""
        if node.args.get("is_string"):
            return text(node.name)
        if not _NUMBER.fullmatch(node.name):
            raise self.refuse("this number is not understood", "write digits, such as 12 or 0.5", node)
        return self._at(node, lambda: number(node.name))

    def cast(self, node: exp.Expr) -> Expression:
        """Return a cast; a value without counterpart is NULL, a constant without one is refused."""
        value = self.expression(node.this)
        if BROUGHT in node.args:
            return self._at(node, lambda: bring(value, node.args[BROUGHT]))
        if not holds_only(node, ("this", "to", "safe")):
            raise self.refuse("this form of a cast is not accepted", "write CAST(x AS TYPE)", node)
        kind = cast_target(node.args["to"])
        if kind is None:
            raise self.refuse(
                "this type is not accepted in a cast",
                "cast to BIGINT, DOUBLE, DECIMAL(p, s), VARCHAR, DATE …",
                node,
            )
        if isinstance(value, Constant) and isinstance(value.value, str) and not isinstance(kind, Text):
            written = value.value
            try:
                value = literal(written, kind)
            except Mistyped as mistake:
                if isinstance(node, exp.TryCast):
                    return Constant(None, kind)
                raise self.refuse(mistake.problem, mistake.hint, node.this) from None
        if isinstance(value.type, Float) and isinstance(kind, Float):
            kind = value.type
        found = self._at(node, lambda: bring(value, kind))
        lost = isinstance(found, Constant) and found.value is None and value != found
        if lost and getattr(value, "value", None) is not None and not isinstance(node, exp.TryCast):
            target = node.args["to"].sql("duckdb")
            raise self.refuse(f"this constant is no {target}", "write a value of that type", node)
        single = node.args["to"].this is exp.DType.FLOAT
        return self.made("single", [found], node) if single else found

    # -------------------------------------------------------------- forms of their own

    def released(self, node: exp.Expr) -> Expression:
        """Return the place of a number that is released first."""
        return place_of(node)

    def sum(self, node: exp.Expr) -> Expression:
        """Return a sum or difference; INTERVALs are written down."""
        left, right = node.args["this"], node.args["expression"]
        sign = -1 if isinstance(node, exp.Sub) else 1
        if isinstance(right, exp.Interval):
            return self._shifted(left, right, sign, node)
        if isinstance(left, exp.Interval) and sign > 0:
            return self._shifted(right, left, sign, node)
        return self.call("+" if sign > 0 else "-", [left, right], node)

    def added(self, node: exp.Expr) -> Expression:
        """Return date_add(x, INTERVAL …)."""
        interval = node.args.get("expression")
        if not isinstance(interval, exp.Interval) or not holds_only(node, ("this", "expression")):
            hint = "write date_add(x, INTERVAL 3 MONTH), or x + INTERVAL 3 MONTH"
            raise self.refuse("an interval is added to a date", hint, node)
        return self._shifted(node.this, interval, -1 if isinstance(node, exp.DateSub) else 1, node)

    def _shifted(self, moved: exp.Expr, interval: exp.Expr, sign: int, node: exp.Expr) -> Expression:
        hint = "write INTERVAL 3 MONTH, or INTERVAL '3' MONTH"
        count, unit = interval.args.get("this"), interval.args.get("unit")
        if isinstance(count, exp.Paren):
            count = count.this
        if isinstance(count, exp.Neg):
            count, sign = count.this, -sign
        if not isinstance(count, exp.Literal) or not re.fullmatch(r"\s*[+-]?\d{1,9}\s*", count.name):
            raise self.refuse("how long an interval is must be written down", hint, interval)
        if not isinstance(unit, exp.Var):
            raise self.refuse("the unit of the interval is missing", hint, interval)
        size = int(count.name) * sign
        value = self.expression(moved)
        if isinstance(value, Constant) and isinstance(value.value, str) and value.is_text:
            written = value.value
            value = self._at(moved, lambda: literal(written, Timestamp()))
        return self.made("shift", [value, Constant(size, whole(size, size)), text(unit.name)], node, [moved])

    def same(self, node: exp.Expr) -> Expression:
        """Return IS NOT DISTINCT FROM."""
        return self.made(
            "not", [self.call("is distinct from", [node.args["this"], node.args["expression"]], node)], node
        )

    def question(self, node: exp.Expr) -> Expression:
        """Return IS NULL, IS TRUE or IS FALSE."""
        answer = node.args["expression"] if holds_only(node, ("this", "expression")) else None
        if isinstance(answer, exp.Null):
            return self.call("is null", [node.this], node)
        if isinstance(answer, exp.Boolean):
            return self.call("is true" if answer.this else "is false", [node.this], node)
        raise self.refuse("this form of IS is not accepted", "write IS NULL, IS TRUE or IS FALSE", node)

    def like(self, node: exp.Expr, escape: Sequence[exp.Expr] = ()) -> Expression:
        """Return [NOT] LIKE or ILIKE."""
        if not holds_only(node, ("this", "expression")):
            raise self.refuse("this form of LIKE is not accepted", "write x LIKE 'a%'", node)
        name = "ilike" if isinstance(node, exp.ILike) else "like"
        found = self.call(name, [node.this, node.args["expression"], *escape], node)
        return self.made("not", [found], node) if node.args.get("negate") else found

    def escaped(self, node: exp.Expr) -> Expression:
        """Return LIKE … ESCAPE."""
        if not isinstance(node.this, exp.Like | exp.ILike):
            raise self.refuse("ESCAPE belongs to LIKE", "write x LIKE '10!%' ESCAPE '!'", node)
        return self.like(node.this, [node.args["expression"]])

    def case(self, node: exp.Expr) -> Expression:
        """Return CASE, with or without a value that is compared."""
        subject = None if node.this is None else self.expression(node.this)
        values: list[Expression] = []
        for branch in node.args["ifs"]:
            test = self.expression(branch.this)
            values += [
                test if subject is None else self.made("=", [subject, test], branch),
                self.expression(branch.args["true"]),
            ]
        otherwise = node.args.get("default")
        return self.made("case", [*values, NULL if otherwise is None else self.expression(otherwise)], node)

    def choice(self, node: exp.Expr) -> Expression:
        """Return if(c, x, y)."""
        otherwise = node.args.get("false")
        values = [self.expression(node.this), self.expression(node.args["true"])]
        return self.made("case", [*values, NULL if otherwise is None else self.expression(otherwise)], node)

    def member(self, node: exp.Expr) -> Expression:
        """Return x IN (…): a list of values, or a subquery of our own making."""
        query = node.args.get("query")
        if query is None:
            if not node.expressions:
                raise self.refuse("IN takes a list of values here", "write IN (1, 2, 3), or a join", node)
            return self.call("in", [node.this, *node.expressions], node)
        value, select = self.expression(node.this), query.this
        output = self.expression(select.expressions[0].unalias())
        kind = self._at(node, lambda: alike([value, output]))
        inner = select.copy()
        inner.set("expressions", [brought(select.expressions[0].unalias(), kind, self.lookup)])
        return Query((self._at(node, lambda: bring(value, kind)),), Body("IN", inner), Boolean())

    def exists(self, node: exp.Expr) -> Expression:
        """Return EXISTS of a subquery of our own making."""
        return Query((), Body("EXISTS", node.this), Boolean())

    def single(self, node: exp.Expr) -> Expression:
        """Return the one value of a subquery of our own making."""
        query = node.this
        if not isinstance(query, exp.Select):
            raise self.refuse("a value is made of one SELECT", "leave UNION ALL out", node)
        return Query((), Body("SELECT", query), self.expression(query.expressions[0].unalias()).type)

    def aggregate(self, node: exp.Expr) -> Expression:
        """Return MIN, MAX, COUNT or AVG in a subquery of our own making."""
        if isinstance(node, exp.Count):
            if isinstance(node.this, exp.Star):
                return Query((), Body("count"), whole(0, types.BIGINT.high))
            return Query((self.expression(node.this),), Body("count"), whole(0, types.BIGINT.high))
        value = self.expression(node.this)
        return Query((value,), Body(node.key), Float() if isinstance(node, exp.Avg) else value.type)

    def inner(self, node: exp.Expr) -> Expression:
        """Return EXISTS, IN, ANY, ALL or the value of a query that is run as it is."""
        word, query = node.args["word"], node.args["query"]
        if word == "EXISTS":
            return Query((), Asking(word, query), Boolean())
        if word == "VALUE":
            return Query((), Asking(word, query), query.types[0])
        left = [self.expression(operand) for operand in node.args["operands"]]
        columns = [Variable("", "", kind) for kind in query.types]
        pairs = list(zip(left, columns, strict=True))
        kinds = self._at(node, lambda: tuple(map(alike, pairs)))
        operands = self._at(node, lambda: tuple(map(bring, left, kinds)))
        return Query(operands, Asking(word, query, node.args.get("operator") or "", kinds), Boolean())

    # -------------------------------------------------------------- refusals

    def is_macro(self, node: exp.Expr) -> bool:
        """Return whether a call is of a function that the database defines itself."""
        name = written_name(node, self.text) if isinstance(node, exp.Func) else ""
        if not name and isinstance(node, exp.AggFunc):  # of some aggregates sqlglot does not keep the place
            name = fold(node.sql_name())
        return bool(name) and name in self.macros

    def refused(self, node: exp.Expr) -> QueryError:
        """Return the refusal of a node that is not understood."""
        problem, hint = reason_of(node, self.text, self.macros)
        return self.refuse(problem, hint, node)

    def refuse(self, problem: str, hint: str | None, part: exp.Expr) -> QueryError:
        """Return the refusal that points at a part."""
        around: exp.Expr | None = part
        place = None
        while around is not None and place is None:
            place, around = span(around, self.text), around.parent
        return refusal(problem, self.text, place, hint=hint)


SPECIAL: dict[type[exp.Expr], Callable[[Elaborator, exp.Expr], Expression]] = {
    exp.Column: lambda self, node: self.lookup(node),
    exp.Literal: Elaborator.literal,
    exp.Boolean: lambda _, node: Constant(bool(node.this), Boolean()),
    exp.Null: lambda *_: NULL,
    exp.Paren: lambda self, node: self.expression(node.this),
    exp.Cast: Elaborator.cast,
    exp.TryCast: Elaborator.cast,
    exp.Date: lambda self, node: self.cast(exp.Cast(this=node.this, to=exp.DataType.build("date"))),
    exp.Add: Elaborator.sum,
    exp.Sub: Elaborator.sum,
    exp.DateAdd: Elaborator.added,
    exp.DateSub: Elaborator.added,
    exp.NullSafeEQ: Elaborator.same,
    exp.Is: Elaborator.question,
    exp.Like: Elaborator.like,
    exp.ILike: Elaborator.like,
    exp.Escape: Elaborator.escaped,
    exp.Case: Elaborator.case,
    exp.If: Elaborator.choice,
    exp.In: Elaborator.member,
}
OWN: dict[type[exp.Expr], Callable[[Elaborator, exp.Expr], Expression]] = {
    exp.Exists: Elaborator.exists,
    exp.Subquery: Elaborator.single,
    exp.Min: Elaborator.aggregate,
    exp.Max: Elaborator.aggregate,
    exp.Count: Elaborator.aggregate,
    exp.Avg: Elaborator.aggregate,
    Inner: Elaborator.inner,
    Released: Elaborator.released,
}
"""What only our own statements hold: `check` refuses it in what people write."""
SPECIAL.update(OWN)


def is_number(kind: Type) -> bool:
    """Return whether values of a type can be summed."""
    return isinstance(kind, Number | Float | Boolean)
