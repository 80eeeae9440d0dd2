"""What a custodian may watch: counts of what was asked. No times and no questions: times tell about rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Counts:
    """How often what happened since the server began."""

    charged: int = 0
    stored: int = 0
    refused: int = 0
    unanswered: int = 0
    sign_ins_failed: int = 0
