"""People and their visits: who is protected where somebody at every extreme is looked for."""

from __future__ import annotations

from pathlib import Path

from recuse.policy import Policy

POLICY = Policy.parse(
    """
[[protect]]
table = "person"
key = ["id"]

[[link]]
table = "visit"
column = ["person"]
to = "person"

[[public]]
table = "town"

[budget]
epsilon = 1000
delta = 0.001
"""
)


def questions_beside(test: str) -> list[str]:
    """Return the questions of `neighbours.sql`, which lies beside a test."""
    texts = (Path(test).parent / "neighbours.sql").read_text().split(";\n")
    return [text.strip() for text in texts if text.strip()]
