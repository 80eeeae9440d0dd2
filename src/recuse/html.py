"""HTML for notebooks: lines of fields, an interval and a budget as pictures, good on dark and on light."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from html import escape
from typing import TypeVar

T = TypeVar("T")
WIDTH, HEIGHT = 180, 14
"""the size of an interval that is drawn, in pixels"""
MARK = "#d9534f"
"""a colour that is seen on dark and on light; lines have the colour of the text"""
_HEAD = "text-align: left; vertical-align: top; font-weight: normal; opacity: 0.65; padding: 0 1em 0 0"
_BODY = "text-align: left; vertical-align: top; padding: 0"


def told_whole(kind: type[T]) -> type[T]:
    """Return a dataclass that nobody can tell to be one, so that tools show it as it wants to be shown.

    Streamlit's `st.write` lists the fields of a dataclass before it looks for `to_pandas` or `_repr_html_`.
    """
    del kind.__dataclass_fields__  # type: ignore[attr-defined]
    return kind


def fields(said: Iterable[tuple[str, str]]) -> str:
    """Return what is said, a line each with its head before it; a head that is repeated is left out."""
    rows, before = [], None
    for head, text in said:
        shown = "" if head == before else escape(head)
        rows.append(
            f'<tr style="background: none"><th style="{_HEAD}">{shown}</th>'
            f'<td style="{_BODY}; white-space: pre-wrap">{escape(text)}</td></tr>'
        )
        before = head
    return f'<table style="font-size: smaller; border: none"><tbody>{"".join(rows)}</tbody></table>'


def interval_svg(low: Fraction, value: Fraction, high: Fraction, scale: tuple[Fraction, Fraction]) -> str:
    """Return a drawing of an interval with its value marked, on a scale that several may share."""
    start, end = scale
    width = end - start or Fraction(1)
    left, middle, right = (4 + float((x - start) / width) * (WIDTH - 8) for x in (low, value, high))
    half = HEIGHT / 2
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" style="vertical-align: middle" role="img">'
        f'<g stroke="currentColor"><path d="M{left:.1f} {half}H{right:.1f}M{left:.1f} 3v{HEIGHT - 6}'
        f'M{right:.1f} 3v{HEIGHT - 6}"/></g>'
        f'<circle cx="{middle:.1f}" cy="{half}" r="3.5" fill="{MARK}"/></svg>'
    )


def share_svg(share: Fraction) -> str:
    """Return a bar, filled as far as a share of it is used up."""
    filled = float(min(max(share, Fraction(0)), Fraction(1))) * WIDTH
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" style="vertical-align: middle" role="img">'
        f'<rect x="0.5" y="2.5" width="{WIDTH - 1}" height="{HEIGHT - 5}" fill="none" stroke="currentColor"/>'
        f'<rect x="0.5" y="2.5" width="{max(filled - 1, 0):.1f}" height="{HEIGHT - 5}" fill="{MARK}"/></svg>'
    )
