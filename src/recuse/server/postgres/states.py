"""A refusal with its SQLSTATE, by which clients of PostgreSQL know what it is."""

from __future__ import annotations

from recuse.errors import RecuseError


class StateError(RecuseError, code="statement"):
    """A statement that is refused, and the SQLSTATE by which clients know why."""

    def __init__(self, problem: str, state: str, hint: str | None = None) -> None:
        super().__init__(problem, hint=hint)
        self.state = state
