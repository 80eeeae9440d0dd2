"""The tree of errors that DB-API 2.0 asks for, and how our refusals and failures fall into it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from recuse.errors import UNANSWERED, LedgerError, RecuseError, UnansweredError
from recuse.errors import DatabaseError as CannotOpen

T = TypeVar("T")


class Warning(Exception):  # noqa: N818 - the names are PEP 249's
    """Never raised; the interface asks for it."""


class Error(Exception):
    """Everything that this interface raises."""

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows in place of a traceback."""
        cause = self.__cause__
        shown = [*cause.shown(), *cause.explained()] if isinstance(cause, RecuseError) else [str(self)]
        return [f"{type(self).__name__}: {shown[0]}", *shown[1:]]


class InterfaceError(Error):
    """The interface was misused, such as a closed cursor."""


class DatabaseError(Error):
    """The question was not answered."""


class DataError(DatabaseError):
    """Never raised: no error depends on data."""


class OperationalError(DatabaseError):
    """The database or the ledger cannot be used, or the budget is spent."""


class IntegrityError(DatabaseError):
    """Never raised: nothing is written."""


class InternalError(DatabaseError):
    """The question was charged and could not be answered: one text, whatever failed, and for nothing else."""


class ProgrammingError(DatabaseError):
    """The SQL, the policy or a parameter is refused."""


class NotSupportedError(DatabaseError):
    """What a private database cannot do: write, or take a charge back."""


def refusing(work: Callable[[], T]) -> T:
    """Return what `work` returns; our refusals come out as those of the interface, with the same one line.

    Guarantee: a failure after the charge is an `InternalError` without cause or context.
    """
    try:
        return work()
    except UnansweredError:
        pass
    except (CannotOpen, LedgerError) as error:
        raise OperationalError(str(error)) from error
    except RecuseError as error:
        raise ProgrammingError(str(error)) from error
    # raised out here, where no error is being handled: nothing is chained to it
    raise InternalError(UNANSWERED)
