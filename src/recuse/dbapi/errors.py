"""The tree of errors that DB-API 2.0 asks for, and how our refusals fall into it."""

from __future__ import annotations

from types import TracebackType

from recuse.errors import DatabaseError as CannotOpen
from recuse.errors import LedgerError, RecuseError


class Warning(Exception):  # noqa: N818 - the names are PEP 249's
    """Never raised; the interface asks for it."""


class Error(Exception):
    """Everything that this interface raises."""


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
    """Never raised."""


class ProgrammingError(DatabaseError):
    """The SQL, the policy or a parameter is refused."""


class NotSupportedError(DatabaseError):
    """What a private database cannot do: write, or take a charge back."""


class Refusals:
    """Turns our refusals into those of the interface, with the same one line."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, CannotOpen | LedgerError):
            raise OperationalError(str(error)) from error
        if isinstance(error, RecuseError):
            raise ProgrammingError(str(error)) from error
