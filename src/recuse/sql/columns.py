"""Expressions over answers → formulas: what stands in the SELECT list, in HAVING and in ORDER BY.

What a formula begins with (an aggregate, a key, a column of an answer) is found by whoever reads the query;
here is what may be made of it. It is computed from released numbers, exactly, and cannot fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction

from sqlglot import exp

from recuse.errors import QueryError
from recuse.scalars.function import Mistyped
from recuse.scalars.literals import literal as written_as
from recuse.scalars.types import MICROSECONDS, Boolean, Date, Float, Number, Timestamp, Type
from recuse.sql.casts import cast_target
from recuse.sql.formula import FixedNumber, FixedValue, Formula, Operation, Operator, operation
from recuse.sql.kinds import ColumnKind, kind_of
from recuse.sql.operators import ARITHMETIC, CHOICES, COMPARED, FLIPPED, ONE_NUMBER
from recuse.sql.position import refusal, span
from recuse.sql.said import (
    NULL,
    Begin,
    Said,
    common_kind,
    formulas_of,
    negated,
    pair_of,
    truth_said,
    words_of,
)
from recuse.sql.spoken import speaks

MOST_PLACES = 15
LISTED = (
    "+ - * / // %, comparisons, AND, OR, NOT, CASE, COALESCE, NULLIF, ROUND, FLOOR, CEIL, ABS, SQRT, casts"
)


ZERO, ONE = FixedNumber(Fraction(0)), FixedNumber(Fraction(1))


@dataclass(frozen=True, slots=True)
class Formulas:
    """A reader of expressions over answers; `text` is what refusals point into."""

    begin: Begin
    text: str
    otherwise: Callable[[exp.Expr], QueryError]
    """returns the refusal of a node that nothing can be made of"""

    def condition(self, node: exp.Expr) -> Formula:
        """Return a formula that is true, false or NULL."""
        said = self.read(node)
        if said.kind not in (ColumnKind.BOOLEAN, None):
            raise self._refuse("this is no condition", node, "compare it: COUNT(*) > 10")
        return said.formula

    def read(self, node: exp.Expr) -> Said:
        """Return the formula of an expression, or refuse the part that is not understood."""
        while isinstance(node, exp.Paren):
            node = node.this
        found = self.begin(node)
        if found is not None:
            return found
        match node:
            case exp.Literal() if node.is_string:
                return Said(FixedValue(node.name), ColumnKind.TEXT)
            case exp.Literal():
                return self._number(node)
            case exp.Boolean():
                return Said(FixedValue(bool(node.this)), ColumnKind.BOOLEAN)
            case exp.Null():
                return NULL
            case exp.Cast() | exp.TryCast() | exp.Date():
                return self._cast(node)
            case exp.Case():
                return self._case(node)
            case exp.If():
                otherwise = node.args.get("false") or exp.Null()
                return self._chosen([(node.this, node.args["true"])], otherwise, node)
            case exp.Is():
                return self._is(node)
            case exp.NullSafeEQ():
                left, right = self._alike([node.this, node.expression], node)
                return truth_said(Operator.SAME, left, right)
        return self._called(node)

    def _called(self, node: exp.Expr) -> Said:
        spoken = speaks(node)
        if spoken is None:
            raise self.otherwise(node)
        name, arguments = spoken
        name, arguments = (FLIPPED[name], arguments[::-1]) if name in FLIPPED else (name, arguments)
        if name in ARITHMETIC:
            return self._arithmetic(name, arguments)
        if name in ONE_NUMBER:
            (said,) = self._numbers(arguments)
            kind = {"abs": said.kind, "sqrt": ColumnKind.NUMBER}.get(name, ColumnKind.INTEGER)
            return Said(operation(ONE_NUMBER[name], said.formula), kind)
        if name == "neg":
            (said,) = self._numbers(arguments)
            return Said(operation(Operator.SUBTRACT, ZERO, said.formula), said.kind)
        if name == "date_diff":
            return self._between_moments(node, arguments)
        if name == "round":
            return self._rounded(node, arguments)
        if name in CHOICES:
            said_all = self._alike(arguments, node)
            return Said(Operation(CHOICES[name], formulas_of(said_all)), common_kind(said_all))
        return self._logic(name, arguments, node)

    def _logic(self, name: str, arguments: Sequence[exp.Expr], node: exp.Expr) -> Said:
        if name in COMPARED:
            return truth_said(COMPARED[name], *self._alike(arguments, node))
        if name in ("<>", "is distinct from"):
            same = Operator.EQUAL if name == "<>" else Operator.SAME
            return negated(truth_said(same, *self._alike(arguments, node)))
        if name == "nullif":
            first, second = self._alike(arguments, node)
            return Said(operation(Operator.NULLIF, first.formula, second.formula), first.kind)
        if name == "between":
            value, low, high = self._alike(arguments, node)
            return truth_said(
                Operator.AND,
                truth_said(Operator.AT_MOST, low, value),
                truth_said(Operator.AT_MOST, value, high),
            )
        if name == "in" and node.args.get("query") is None and len(arguments) > 1:
            value, *others = self._alike(arguments, node)
            return truth_said(Operator.OR, *(truth_said(Operator.EQUAL, value, other) for other in others))
        if name == "not":
            return negated(Said(self.condition(arguments[0]), ColumnKind.BOOLEAN))
        if name in ("and", "or"):
            operator = Operator.AND if name == "and" else Operator.OR
            parts = tuple(self.condition(argument) for argument in arguments)
            return Said(Operation(operator, parts), ColumnKind.BOOLEAN)
        raise self.otherwise(node)

    # -------------------------------------------------------------- forms of their own

    def _number(self, node: exp.Literal) -> Said:
        try:
            value = Fraction(node.name)
        except ValueError:
            raise self._refuse("this number is not understood", node, "write digits, such as 12") from None
        return Said(FixedNumber(value), ColumnKind.INTEGER if value.denominator == 1 else ColumnKind.NUMBER)

    def _arithmetic(self, name: str, arguments: Sequence[exp.Expr]) -> Said:
        said = [self.read(node) for node in arguments]
        if name == "-" and all(one.kind is ColumnKind.DATE for one in said):
            parts = (operation(Operator.SINCE, one.formula) for one in said)
            return Said(Operation(Operator.SUBTRACT, tuple(parts)), ColumnKind.INTEGER)
        self._must_be_numbers(said, arguments)
        whole = name != "/" and all(one.kind in (ColumnKind.INTEGER, None) for one in said)
        kind = ColumnKind.INTEGER if whole or name == "//" else ColumnKind.NUMBER
        return Said(Operation(ARITHMETIC[name], formulas_of(said)), kind)

    def _between_moments(self, node: exp.Expr, arguments: Sequence[exp.Expr]) -> Said:
        """Return the days between dates, or the seconds between timestamps."""
        unit, first, last = arguments
        kinds = {"day": ColumnKind.DATE, "second": ColumnKind.TIMESTAMP}
        said = [self.read(first), self.read(last)]
        if {one.kind for one in said} != {kinds.get(unit.name.lower())}:
            problem = "the days between dates are answered, and the seconds between timestamps"
            raise self._refuse(problem, node, "write MAX(d) - MIN(d), or date_diff('day', MIN(d), MAX(d))")
        since = [operation(Operator.SINCE, one.formula) for one in said]
        return Said(operation(Operator.SUBTRACT, since[1], since[0]), ColumnKind.INTEGER)

    def _rounded(self, node: exp.Expr, arguments: Sequence[exp.Expr]) -> Said:
        (said,) = self._numbers(arguments[:1])
        places = self.read(arguments[1]).formula if len(arguments) > 1 else ZERO
        if isinstance(places, Operation) and places.arguments[:1] == (ZERO,):  # a minus sign
            places = FixedNumber(-getattr(places.arguments[1], "value", Fraction(1, 2)))
        if (
            not isinstance(places, FixedNumber)
            or places.value.denominator != 1
            or abs(places.value) > MOST_PLACES
        ):
            problem = f"ROUND takes a number of places from -{MOST_PLACES} to {MOST_PLACES}"
            raise self._refuse(problem, node, "write ROUND(AVG(x), 2)")
        return Said(operation(Operator.ROUND, said.formula, places), said.kind)

    def _cast(self, node: exp.Expr) -> Said:
        said = self.read(node.this)
        target = Date() if isinstance(node, exp.Date) else cast_target(node.args["to"])
        if target is None:
            raise self._refuse("this type is not accepted in a cast", node, "cast to BIGINT or DECIMAL(9, 2)")
        kind = kind_of(target)
        if said.kind is None or (said.kind is kind and not isinstance(target, Number)):
            return Said(said.formula, kind)
        if isinstance(said.formula, FixedValue) and isinstance(target, Date | Timestamp | Boolean):
            return Said(FixedValue(self._read_as(said.formula, kind, node)), kind)
        if said.kind is ColumnKind.BOOLEAN and kind.is_number:
            known = operation(
                Operator.CASE, said.formula, ONE, *pair_of(said.formula, ZERO), FixedValue(None)
            )
            return Said(known, ColumnKind.INTEGER)
        if said.kind.is_number and isinstance(target, Float):
            return Said(said.formula, ColumnKind.NUMBER)
        if said.kind.is_number and isinstance(target, Number):
            places = FixedNumber(Fraction(target.scale))
            return Said(operation(Operator.ROUND, said.formula, places), kind)
        raise self._refuse(
            "what was released is not cast to this type", node, "cast to BIGINT, DOUBLE or DECIMAL(9, 2)"
        )

    def _case(self, node: exp.Expr) -> Said:
        branches = []
        for branch in node.args["ifs"]:
            test = branch.this
            if node.this is not None:
                test = exp.EQ(this=node.this.copy(), expression=test.copy())
            branches.append((test, branch.args["true"]))
        return self._chosen(branches, node.args.get("default") or exp.Null(), node)

    def _chosen(
        self, branches: Sequence[tuple[exp.Expr, exp.Expr]], otherwise: exp.Expr, node: exp.Expr
    ) -> Said:
        tests = [self.condition(test) for test, _ in branches]
        values = self._alike([*(value for _, value in branches), otherwise], node)
        parts: list[Formula] = []
        for test, value in zip(tests, values, strict=False):
            parts += [test, value.formula]
        return Said(Operation(Operator.CASE, (*parts, values[-1].formula)), common_kind(values))

    def _is(self, node: exp.Expr) -> Said:
        said, answer = self.read(node.this), node.args["expression"]
        if isinstance(answer, exp.Null):
            return truth_said(Operator.IS_NULL, said)
        if isinstance(answer, exp.Boolean):
            return truth_said(Operator.SAME, said, Said(FixedValue(bool(answer.this)), ColumnKind.BOOLEAN))
        raise self._refuse("this form of IS is not accepted", node, "write IS NULL, IS TRUE or IS FALSE")

    # -------------------------------------------------------------- kinds

    def _numbers(self, nodes: Sequence[exp.Expr]) -> list[Said]:
        found = [self.read(node) for node in nodes]
        self._must_be_numbers(found, nodes)
        return found

    def _must_be_numbers(self, found: Sequence[Said], nodes: Sequence[exp.Expr]) -> None:
        for said, node in zip(found, nodes, strict=True):
            if said.kind is not None and not said.kind.is_number:
                raise self._refuse(
                    f"this is {words_of(said.kind)}, not a number",
                    node,
                    "compute with numbers; CASE makes one",
                )

    def _alike(self, nodes: Sequence[exp.Expr], whole: exp.Expr) -> list[Said]:
        """Return values of one kind; text in quotes is read as what it stands beside."""
        found = [self.read(node) for node in nodes]
        kinds = {said.kind for said in found if said.kind is not None}
        moments = kinds & {ColumnKind.DATE, ColumnKind.TIMESTAMP}
        wanted = next(iter(moments | (kinds & {ColumnKind.BOOLEAN})), None)
        if wanted is not None and ColumnKind.TEXT in kinds:
            found = [self._beside(said, wanted, node) for said, node in zip(found, nodes, strict=True)]
            kinds = {said.kind for said in found if said.kind is not None}
        if len(kinds) > 1 and not all(kind.is_number for kind in kinds) and kinds - moments:
            named = " and ".join(sorted({words_of(kind) for kind in kinds}))
            raise self._refuse(f"{named} stand side by side", whole, "compare values of one type")
        return found

    def _beside(self, said: Said, kind: ColumnKind, node: exp.Expr) -> Said:
        if said.kind is ColumnKind.TEXT and isinstance(said.formula, FixedValue):
            return Said(FixedValue(self._read_as(said.formula, kind, node)), kind)
        return said

    def _read_as(self, fixed: FixedValue, kind: ColumnKind, node: exp.Expr) -> object:
        """Return what text means that is written as a date, a time or a truth value."""
        kinds: dict[ColumnKind, Type] = {ColumnKind.DATE: Date(), ColumnKind.TIMESTAMP: Timestamp()}
        target = kinds.get(kind, Boolean())
        try:
            value = written_as(str(fixed.value), target).value
        except Mistyped as mistake:
            raise self._refuse(mistake.problem, node, mistake.hint) from None
        if isinstance(target, Date):
            return date.fromordinal(date(1970, 1, 1).toordinal() + int(value or 0))
        if isinstance(target, Timestamp):
            days, rest = divmod(int(value or 0), MICROSECONDS)
            moment = datetime.fromordinal(date(1970, 1, 1).toordinal() + days)
            seconds, micro = divmod(rest, 1_000_000)
            return moment.replace(
                hour=seconds // 3600, minute=seconds // 60 % 60, second=seconds % 60, microsecond=micro
            )
        return value

    def _refuse(self, problem: str, node: exp.Expr, hint: str | None) -> QueryError:
        return refusal(problem, self.text, span(node, self.text), hint=hint)
