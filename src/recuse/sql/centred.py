"""Variances, deviations, covariances, correlations and lines, written as sums of products about a centre.

    VAR_POP(x)             SUM((x - c)²) / n: n, and c = SUM(x) / n, are released first
    VAR_POP(x), GROUP BY   SUM((x - c)²) / n - (SUM(x - c) / n)² of every group: c, the mean of all, first

The sum of squares about zero would be as large as the mean is, and so would its noise. What is written here
is SQL that is read as if a person had written it: aggregates, and subqueries that are released first.

Guarantee: private with the ε asked (proofs.md, theorem J3).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from recuse.privacy import decimal_text
from recuse.sql.placeholder import PutFirst, asked_first

ONE_VALUE = (exp.VariancePop, exp.Variance, exp.StddevPop, exp.Stddev, exp.StddevSamp)
TWO_VALUES = (
    *(exp.CovarPop, exp.CovarSamp, exp.Corr, exp.RegrSlope, exp.RegrIntercept, exp.RegrR2),
    *(exp.RegrAvgx, exp.RegrAvgy, exp.RegrCount, exp.RegrSxx, exp.RegrSyy, exp.RegrSxy),
)


def product_granularity(granularity: Fraction) -> Fraction:
    """Return what products of two values are rounded to, given what values are.

    It is fine enough for ratings and shares, and coarse enough for 64 bits: of cents a ten-thousandth, for
    values up to 30 million from the mean; of whole numbers a hundredth, for values up to 300 million.
    """
    return min(granularity**2, granularity / 100)


def centred(node: exp.Expr, around: exp.Select, granularity: Fraction, release: PutFirst) -> exp.Expr | None:
    """Return how an aggregate of the SELECT around is written about a centre; None if it is none of these."""
    call, test = (node.this, node.expression.this) if isinstance(node, exp.Filter) else (node, None)
    held = {key for key, value in call.args.items() if value}
    if isinstance(call, ONE_VALUE) and held == {"this"} and not isinstance(call.this, exp.Distinct):
        return _Moments(call.this, call.this, test, around, granularity, release).written(call)
    if isinstance(call, TWO_VALUES) and held == {"this", "expression"}:
        return _Moments(call.args["expression"], call.this, test, around, granularity, release).written(call)
    return None


@dataclass(frozen=True, slots=True)
class _Moments:
    """The sums over the rows in which x and y both have a value, and a further condition holds."""

    x: exp.Expr
    y: exp.Expr
    test: exp.Expr | None
    around: exp.Select
    granularity: Fraction
    release: PutFirst

    @property
    def grouped(self) -> bool:
        return self.around.args.get("group") is not None

    def written(self, call: exp.Expr) -> exp.Expr:
        n = self.count()
        match call:
            case exp.VariancePop():
                return _over(_not_below(self.moment(self.x, self.x), 0), n, 0)
            case exp.Variance():
                return _over(_not_below(self.moment(self.x, self.x), 0), n, 1)
            case exp.StddevPop():
                return exp.Sqrt(this=_over(_not_below(self.moment(self.x, self.x), 0), n, 0))
            case exp.Stddev() | exp.StddevSamp():
                return exp.Sqrt(this=_over(_not_below(self.moment(self.x, self.x), 0), n, 1))
            case exp.CovarPop() | exp.CovarSamp():
                return _over(self.moment(self.y, self.x), n, int(isinstance(call, exp.CovarSamp)))
            case exp.RegrCount():
                return self.sum(exp.Count(this=exp.Star(), big_int=True))
            case exp.RegrAvgx() | exp.RegrAvgy():
                return self.sum(exp.Avg(this=(self.x if isinstance(call, exp.RegrAvgx) else self.y).copy()))
            case exp.RegrSxx() | exp.RegrSyy():
                value = self.x if isinstance(call, exp.RegrSxx) else self.y
                return _not_below(self.moment(value, value), 0)
            case exp.RegrSxy():
                return self.moment(self.y, self.x)
        return self._line(call)

    def _line(self, call: exp.Expr) -> exp.Expr:
        """Return what is said of the line through the points."""
        both, across = self.moment(self.y, self.x), self.moment(self.x, self.x)
        if isinstance(call, exp.RegrSlope | exp.RegrIntercept):
            slope = _if(_above(across, 0), exp.Div(this=both, expression=across))
            if isinstance(call, exp.RegrSlope):
                return slope
            return _minus(self.mean(self.y), exp.Mul(this=exp.paren(slope), expression=self.mean(self.x)))
        up = self.moment(self.y, self.y)
        size = exp.paren(exp.Mul(this=across, expression=up))
        if isinstance(call, exp.RegrR2):
            found = exp.Div(this=exp.paren(exp.Mul(this=both, expression=both.copy())), expression=size)
            ends = 0, 1
        else:
            found, ends = exp.Div(this=both, expression=exp.Sqrt(this=size)), (-1, 1)
        kept = exp.Greatest(
            this=exp.Least(this=found, expressions=[_number(ends[1])]), expressions=[_number(ends[0])]
        )
        return _if(exp.and_(_above(across, 0), _above(up, 0)), kept)

    def count(self) -> exp.Expr:
        """Return how many rows there are: of a group, or released first."""
        found = self.sum(exp.Count(this=exp.Star(), big_int=True))
        return found if self.grouped else self.first(found, "how many rows there are")

    def centre(self, value: exp.Expr) -> exp.Expr:
        """Return the mean that is released first."""
        said = f"the mean of {value.sql(dialect='duckdb')}"
        if self.grouped:
            return self.first(self.sum(exp.Avg(this=value.copy())), said)
        total = self.sum(exp.Sum(this=value.copy()))
        n = exp.Nullif(this=self.count(), expression=_number(0))
        return self.first(exp.Div(this=total, expression=n), said)

    def mean(self, value: exp.Expr) -> exp.Expr:
        """Return the mean of the rows, of a group or of all."""
        if not self.grouped:
            return self.centre(value)
        off = exp.Div(this=self.off(value), expression=_not_below(self.count(), 1))
        return exp.paren(exp.Add(this=self.centre(value), expression=off))

    def off(self, value: exp.Expr) -> exp.Expr:
        """Return how far the values of a group lie from the centre, together."""
        return self.sum(exp.Sum(this=self._about(value)))

    def moment(self, one: exp.Expr, other: exp.Expr) -> exp.Expr:
        """Return the sum of products about the means."""
        granule = product_granularity(self.granularity)
        product = exp.Mul(this=self._about(one), expression=self._about(other))
        finer = _number(self.granularity / granule)
        total = self.sum(exp.Sum(this=exp.Mul(this=product, expression=finer)))
        found = exp.Div(this=total, expression=finer.copy())
        if not self.grouped:
            return exp.paren(found)
        both = exp.Mul(this=self.off(one), expression=self.off(other))
        return exp.paren(_minus(found, exp.Div(this=both, expression=_not_below(self.count(), 1))))

    def _about(self, value: exp.Expr) -> exp.Expr:
        return exp.paren(_minus(exp.cast(exp.paren(value.copy()), "double"), self.centre(value)))

    def sum(self, aggregate: exp.Expr) -> exp.Expr:
        """Return an aggregate of the rows that take part."""
        values = {value.sql(): value for value in (self.x, self.y)}
        tests = [
            exp.Not(this=exp.Is(this=exp.paren(v.copy()), expression=exp.null())) for v in values.values()
        ]
        whole = exp.and_(*tests, *([] if self.test is None else [self.test.copy()]))
        return exp.Filter(this=aggregate, expression=exp.Where(this=whole))

    def first(self, value: exp.Expr, said: str) -> exp.Expr:
        """Return a value of all the rows that the SELECT around looks at, released first."""
        return self.release(asked_first(value, said, self.around))


def _number(value: Fraction | int) -> exp.Expr:
    return exp.Literal.number(decimal_text(Fraction(value))) if value >= 0 else exp.Neg(this=_number(-value))


def _minus(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Sub(this=left, expression=right)


def _above(value: exp.Expr, least: int) -> exp.Expr:
    return exp.GT(this=value.copy(), expression=_number(least))


def _not_below(value: exp.Expr, least: int) -> exp.Expr:
    return exp.Greatest(this=value, expressions=[_number(least)])


def _if(test: exp.Expr, value: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=test, true=value)])


def _over(total: exp.Expr, count: exp.Expr, less: int) -> exp.Expr:
    """Return a total over a count, or one less than it; NULL if that is no row."""
    rows = _minus(count.copy(), _number(less)) if less else count.copy()
    return _if(_above(count, less), exp.Div(this=total, expression=_not_below(rows, 1)))
