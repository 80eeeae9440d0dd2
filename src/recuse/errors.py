"""The errors of the package: one tree, one line and one code each.

    RecuseError                 refused
    ├── ParameterError          parameter             a number asked for is not one we can use (ε, θ, …)
    │   └── StatisticsError     parameter.statistics  … or one that an estimate needs is not stated
    ├── PolicyError             policy                the policy file says something that cannot be meant
    ├── QueryError              query                 the SQL is not understood completely, so it is refused
    │   ├── NoTableError        query.table           … since there is no such table
    │   ├── NoColumnError       query.column          … since there is no such column
    │   └── ClosedTableError    query.closed          … since the policy does not mention a table
    ├── DatabaseError           database              the database cannot be opened or has no such table
    │   └── LayoutError         database.layout       … or an edge list is not laid out as was said
    ├── LedgerError             ledger                the budget ledger cannot be used
    │   ├── AnalystError        ledger.analyst        … because it does not know the analyst who asks
    │   └── BudgetError         budget                … because too little of the budget is left
    └── UnansweredError         unanswered            something failed after the charge: one text for all

Programs branch on the class or on its `code`, which stays when words change. Words name what the library
knows; which option of a command that is, the command line says itself (`cli/refusal`).

Whether one is raised, and what it says, depends on the SQL, the policy, the parameters, the catalogue
and the ledger only; never on the data. `UnansweredError` is what is left for failures that nobody foresaw:
it says nothing but that there was one.
"""

from __future__ import annotations

from typing import ClassVar, TypedDict, Unpack

from recuse.messages import message_for

MAX_QUOTE = 60
MAX_LINE = 90
UNANSWERED = "the question could not be answered; its charge stays"


def quote(text: str) -> str:
    """Return `text` on one line, shortened so that a message stays readable."""
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_QUOTE else flat[: MAX_QUOTE - 1] + "…"


def pointed(text: str, line: int, column: int) -> list[str]:
    """Return one line of a text with a caret under a column; of a long line what is near it.

    >>> pointed("SELECT 1\\nFROM t", 2, 6)
    ['    FROM t', '         ^']
    """
    lines = text.splitlines()
    if not (0 < line <= len(lines) and 0 < column <= len(lines[line - 1]) + 1):
        return []
    start = max(0, column - 1 - MAX_LINE // 2)
    part = lines[line - 1][start : start + MAX_LINE].replace("\t", " ")
    before, after = "…" if start else "", "…" if start + MAX_LINE < len(lines[line - 1]) else ""
    return [f"    {before}{part}{after}", " " * (4 + len(before) + column - 1 - start) + "^"]


class Details(TypedDict, total=False):
    """What an error may say besides the problem: what was found, what is accepted, what to write instead."""

    found: str | None
    accepted: str | None
    hint: str | None


class RecuseError(Exception):
    """A refusal that says what is wrong, what was found, what is accepted, and what to write instead."""

    code: ClassVar[str] = "refused"

    def __init_subclass__(cls, *, code: str | None = None) -> None:
        cls.code = cls.code if code is None else code

    def __init__(
        self, problem: str, *, found: str | None = None, accepted: str | None = None, hint: str | None = None
    ) -> None:
        self.problem = problem
        self.found = found
        self.accepted = accepted
        self.hint = hint
        super().__init__(problem)

    def where(self) -> str:
        """Return the place of the problem, with its separator, or nothing."""
        return ""

    def __str__(self) -> str:
        parts = []
        if self.found is not None:
            parts.append(f"found: {quote(self.found)}")
        if self.accepted is not None:
            parts.append(f"accepted: {self.accepted}")
        if self.hint is not None:
            parts.append(f"hint: {self.hint}")
        problem = self.where() + self.problem
        if not parts:
            return problem
        return problem + (" " if problem.endswith("?") else "; ") + "; ".join(parts)

    def shown(self) -> list[str]:
        """Return the refusal as people see it who can look at more than one line."""
        return [str(self)]

    def explained(self) -> list[str]:
        """Return the command that explains the refusal, for people who look at it; none if there is none."""
        entry = message_for(self.code, self.problem)
        return [] if entry is None else [f"    recuse explain-error {entry.code}"]

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows in place of a traceback: the way through this package helps nobody."""
        first, *others = self.shown()
        return [f"{type(self).__name__}: {first}", *others, *self.explained()]


class ParameterError(RecuseError, code="parameter"):
    """A parameter is outside its range."""


class StatisticsError(ParameterError, code="parameter.statistics"):
    """An estimate needs the size of a table that is not stated."""


class PolicyError(RecuseError, code="policy"):
    """The policy contradicts itself or the catalogue."""

    def __init__(self, problem: str, *, line: int | None = None, **said: Unpack[Details]) -> None:
        super().__init__(problem, **said)
        self.line = line

    def where(self) -> str:
        return "" if self.line is None else f"policy line {self.line}: "


class QueryError(RecuseError, code="query"):
    """The query is refused; `line` and `column` (from 1) say where."""

    def __init__(
        self, problem: str, *, line: int | None = None, column: int | None = None, **said: Unpack[Details]
    ) -> None:
        super().__init__(problem, **said)
        self.line = line
        self.column = column
        self.text: str | None = None
        """the whole query, once who was asked it has added it"""

    def where(self) -> str:
        return "" if self.line is None else f"line {self.line}, column {self.column}: "

    def shown(self) -> list[str]:
        if self.text is None or self.line is None or self.column is None:
            return [str(self)]
        return [str(self), *pointed(self.text, self.line, self.column)]


class NoTableError(QueryError, code="query.table"):
    """The query names a table that there is not."""


class NoColumnError(QueryError, code="query.column"):
    """The query names a column that there is not."""


class ClosedTableError(QueryError, code="query.closed"):
    """The query names a table that the policy does not mention."""


class DatabaseError(RecuseError, code="database"):
    """The database cannot be opened, or its catalogue lacks what was named."""


class LayoutError(DatabaseError, code="database.layout"):
    """The lines of an edge list are not as its name, or as the caller, says."""


class LedgerError(RecuseError, code="ledger"):
    """The ledger is unreadable, corrupt or of another version."""


class AnalystError(LedgerError, code="ledger.analyst"):
    """It is not said which analyst asks, or the custodian has named no such analyst."""


class BudgetError(LedgerError, code="budget"):
    """The charge asked for exceeds what is left."""


class UnansweredError(RecuseError, code="unanswered"):
    """The question was charged and could not be answered. It has one text, no cause and no context.

    Guarantee: failures after a charge cannot be told apart by what is raised (tests/attacks/test_faults.py).
    """

    def __init__(self) -> None:
        super().__init__(UNANSWERED)

    def __reduce__(self) -> tuple[type[UnansweredError], tuple[()]]:
        return type(self), ()
