"""One row of the table of functions: what it takes and gives, what it means, how DuckDB is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, signature
from typing import Any

from recuse.scalars.expression import Constant, Expression
from recuse.scalars.types import Type

PREFIX, SPARK = "pg ", "spark "
"""how the names of functions begin that PostgreSQL and Spark mean otherwise; people know them without"""


OPAQUE = "only IS NULL is understood of it: count the rows that have one"


class Mistyped(Exception):  # noqa: N818 - what an argument is, not what went wrong
    """An argument is not what the function takes; whoever knows the text makes a refusal of it."""

    def __init__(self, problem: str, hint: str | None = None, place: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint
        self.place = place
        """which argument is at fault, if one is"""


class OtherForm(Mistyped):
    """A form of a function does not take these arguments; another form of that name says what is taken."""

    def __init__(self) -> None:
        super().__init__("")


@dataclass(frozen=True, slots=True)
class Signature:
    """The types that the arguments are brought to, and the type of the result."""

    takes: tuple[Type, ...]
    gives: Type


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A total function.

    `signature` is decided from the arguments' types, and from their values where they are constants;
    `value` gives what it means in Python (strict functions are never given NULL), `duckdb` the SQL of a call
    from the SQL of its arguments. Both are given the call, for the types.
    """

    name: str
    form: str
    about: str
    signature: Callable[[Sequence[Expression]], Signature]
    value: Callable[..., Any]
    duckdb: Callable[..., str]
    strict: bool = True
    raw: bool = False
    """whether the form may give NaN or -0.0, and takes arguments that may be either"""
    mends: bool = False
    """whether the form may give NaN or -0.0 from arguments that are neither"""
    loose: bool = False
    """whether a stored float may stand in the form as it is: it looks at equality and order only"""
    folds: bool = True
    """whether Python may compute it of constants: not where that could take long, or need Unicode's tables"""
    copies: bool = False
    """whether DuckDB copies the operands within, so that only few may stand inside of each other"""
    inner: bool = False
    """whether it is ours alone, and no question can write it"""

    def __repr__(self) -> str:
        return self.name

    @property
    def known_as(self) -> str:
        """Its name as people know it."""
        return self.name.removeprefix(PREFIX).removeprefix(SPARK)


@cache
def arity(function: Function) -> tuple[int, int | None]:
    """Return how many arguments a function takes: those of its meaning in Python."""
    takes = list(signature(function.value).parameters.values())[1:]
    named = [one for one in takes if one.kind is not Parameter.VAR_POSITIONAL]
    least = sum(one.default is Parameter.empty for one in named)
    return least, len(named) if len(named) == len(takes) else None


def check_arity(function: Function, count: int) -> None:
    """Say so if a function is given too few or too many arguments."""
    least, most = arity(function)
    if least <= count and (most is None or count <= most):
        return
    wanted = f"at least {least}" if most is None else f"{least}" if least == most else f"{least} to {most}"
    plural = "" if wanted == "1" else "s"
    raise Mistyped(
        f"{function.known_as} takes {wanted} argument{plural}, not {count}",
        f"write {function.form}",
    )


def constant_of(arguments: Sequence[Expression], place: int, problem: str, hint: str | None = None) -> Any:
    """Return the value of an argument that must be written down, or say that it must."""
    argument = arguments[place]
    if not isinstance(argument, Constant) or argument.value is None:
        raise Mistyped(problem, hint, place)
    return argument.value


def fixed(takes: Sequence[Type], gives: Type) -> Callable[[Sequence[Expression]], Signature]:
    """Return the signature of a function that always takes and gives the same types."""

    return lambda _: Signature(tuple(takes), gives)
