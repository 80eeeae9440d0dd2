"""The table of aggregates and window functions: how each is made, and what it says to people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from recuse.scalars.build import bring
from recuse.scalars.expression import Expression
from recuse.scalars.function import Mistyped
from recuse.scalars.types import Boolean, whole
from recuse.sql.native.asked import RowsCall
from recuse.sql.native.picks import extreme, extreme_by, first, last, median, mode, quantile
from recuse.sql.native.spread import correlation, covariance, slope, spread
from recuse.sql.native.sums import average, total
from recuse.sql.native.windows import WINDOWS, of_frame


@dataclass(frozen=True, slots=True)
class RowsFunction:
    """A function of many rows: `made` gives its typed expression, or raises `Mistyped`.

    Guarantee: what is made raises on no rows, and is a function of their bag (proofs.md, "Queries that
    are run as they are"): nothing that an engine may choose is left open, but among rows that look alike.
    """

    name: str
    form: str
    about: str
    made: Callable[[RowsCall], Expression]
    windowed: bool = True
    """whether it may have OVER"""


def _count(asked: RowsCall) -> Expression:
    if len(asked.arguments) > 1:
        raise Mistyped("COUNT takes one argument", "count over SELECT DISTINCT x, y in a subquery")
    return asked.count(*asked.arguments)


def _count_if(asked: RowsCall) -> Expression:
    held = bring(bring(asked.argument, Boolean()), whole(0, 1))
    return total(replace(asked, arguments=(held,)))


def _truth(function: str) -> Callable[[RowsCall], Expression]:
    def made(asked: RowsCall) -> Expression:
        return asked.engine(function, (bring(asked.argument, Boolean()),), Boolean())

    return made


def _picked(alone: Callable[[RowsCall], Expression], windowed: str) -> Callable[[RowsCall], Expression]:
    return lambda asked: alone(asked) if asked.over is None else of_frame(windowed)(asked)


_PAIR = "rows in which either is NULL take no part"
_SUM = "numbers of up to 38 digits, exactly; floats to 18 decimal places"
AGGREGATES = (
    RowsFunction("count", "count(*), count(x)", "How many rows, or values that are not NULL.", _count),
    RowsFunction("sum", "sum(x)", f"The sum: {_SUM}.", total),
    RowsFunction(
        "count_if", "count_if(c)", "In how many rows a condition holds; NULL if it is NULL in all.", _count_if
    ),
    RowsFunction("avg", "avg(x)", "The exact sum over the count, as a float.", average),
    RowsFunction("min", "min(x)", "The least value.", extreme("min")),
    RowsFunction("max", "max(x)", "The greatest value.", extreme("max")),
    *(
        RowsFunction(
            name,
            f"{name}(x ORDER BY y)",
            f"The {name}; the {which} x of rows that tie.",
            _picked(alone, f"{name}_value"),
        )
        for name, which, alone in (("first", "least", first), ("last", "greatest", last))
    ),
    RowsFunction("any_value", "any_value(x)", "One of the values: the least.", extreme("min")),
    *(
        RowsFunction(
            name,
            f"{name}(x, y)",
            f"The x of the {which} y; {_PAIR}.",
            extreme_by(descending=which == "greatest"),
            windowed=False,
        )
        for name, which in (("arg_min", "least"), ("arg_max", "greatest"))
    ),
    RowsFunction("bool_and", "bool_and(c)", "Whether a condition holds in all rows.", _truth("bool_and")),
    RowsFunction("bool_or", "bool_or(c)", "Whether a condition holds in any row.", _truth("bool_or")),
    RowsFunction("median", "median(x)", "Halfway between the two in the middle.", median),
    *(
        RowsFunction(
            name, f"{name}(x, 0.9)", f"A quantile, {how}.", quantile(interpolated=how == "interpolated")
        )
        for name, how in (("quantile_cont", "interpolated"), ("quantile_disc", "one of the values"))
    ),
    RowsFunction("mode", "mode(x)", "The most frequent value; the least of several.", mode),
    RowsFunction("var_pop", "var_pop(x)", "The variance.", spread("var_pop")),
    RowsFunction("var_samp", "var_samp(x), variance(x)", "The variance of a sample.", spread("var_samp")),
    RowsFunction("stddev_pop", "stddev_pop(x)", "The standard deviation.", spread("stddev_pop")),
    RowsFunction(
        "stddev_samp",
        "stddev_samp(x), stddev(x)",
        "The standard deviation of a sample.",
        spread("stddev_samp"),
    ),
    RowsFunction("covar_pop", "covar_pop(y, x)", f"The covariance; {_PAIR}.", covariance("covar_pop")),
    RowsFunction(
        "covar_samp", "covar_samp(y, x)", f"The covariance of a sample; {_PAIR}.", covariance("covar_samp")
    ),
    RowsFunction("corr", "corr(y, x)", f"The correlation; {_PAIR}.", correlation),
    RowsFunction("regr_slope", "regr_slope(y, x)", f"The slope of the regression line; {_PAIR}.", slope),
)
_FORMS = {
    "row_number": ("row_number()", "The row's number; rows that tie by all their columns."),
    "rank": ("rank()", "The number of the first row that ties with it."),
    "dense_rank": ("dense_rank()", "The number among the different values."),
    "percent_rank": ("percent_rank()", "The rank between 0 and 1."),
    "cume_dist": ("cume_dist()", "The share of rows up to those that tie with it."),
    "ntile": ("ntile(n)", "Which of n parts of equal size."),
    "lag": ("lag(x, n, default)", "The value n rows before."),
    "lead": ("lead(x, n, default)", "The value n rows after."),
    "first_value": ("first_value(x)", "The first of the frame."),
    "last_value": ("last_value(x)", "The last of the frame."),
    "nth_value": ("nth_value(x, n)", "The nth of the frame."),
}
TABLE: dict[str, RowsFunction] = {row.name: row for row in AGGREGATES} | {
    name: RowsFunction(name, form, about, WINDOWS[name]) for name, (form, about) in _FORMS.items()
}
