"""Texts and names as SQL writes them."""

from __future__ import annotations


def text_literal(text: str) -> str:
    """Return an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def name_literal(name: str) -> str:
    """Return a quoted SQL name."""
    return '"' + name.replace('"', '""') + '"'
