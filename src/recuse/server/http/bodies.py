"""What is sent to the HTTP door: JSON of these shapes and no other; what is not known is refused."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictInt

from recuse.mechanism.mechanisms import DEFAULT
from recuse.server.limits import MOST_SQL, MOST_STATED
from recuse.session.estimate import RUNS

SqlField = Annotated[str, Field(min_length=1, max_length=MOST_SQL)]
LossText = Annotated[
    str, Field(min_length=1, max_length=40, description="an exact number, such as 0.5 or 1/3")
]
NameText = Annotated[str, Field(min_length=1, max_length=100)]
StatedRows = Annotated[StrictInt, Field(ge=1, le=MOST_STATED)]
StatedTables = Annotated[dict[NameText, StatedRows], Field(max_length=100)]


class StrictBody(BaseModel):
    """What all bodies share: no field that is not known, and no other type than the one that is named."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ExplainBody(StrictBody):
    """A question to be explained."""

    sql: SqlField


class QuestionBody(StrictBody):
    """A question to be answered, and what it may cost."""

    sql: SqlField
    epsilon: LossText
    delta: LossText | None = None
    mechanism: NameText = DEFAULT


class PatternBody(StrictBody):
    """A pattern, and the table of edges in which it is counted."""

    pattern: Annotated[str, Field(min_length=1, max_length=500)]
    table: NameText
    source: NameText
    target: NameText


class EstimateBody(StrictBody):
    """A question whose error is estimated from statistics that are stated."""

    sql: SqlField
    epsilons: Annotated[list[LossText], Field(min_length=1, max_length=24)]
    rows: StatedTables
    largest: StatedTables = {}
    runs: Annotated[int, Field(ge=1, le=RUNS)] = 60


class GrantBody(StrictBody):
    """A limit: of an analyst, or of the database."""

    epsilon: LossText
    delta: LossText | None = None
    analyst: NameText | None = None


class TokenBody(StrictBody):
    """A token to be made: an analyst's or a custodian's."""

    name: NameText
    role: Annotated[str, Field(pattern="^(analyst|custodian)$")] = "analyst"
    purpose: Annotated[str, Field(max_length=100)] = ""
    days: Annotated[int, Field(ge=1, le=36_500)] | None = None
