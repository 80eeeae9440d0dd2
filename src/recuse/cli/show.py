"""What the command line prints: an answer for people, the same for programs."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from recuse.mechanism.release import Release
from recuse.privacy import decimal_text


def number(value: Fraction) -> int | float:
    """Return a JSON number: whole numbers as they are, others as the nearest double."""
    return int(value) if value.denominator == 1 else float(value)


def readable(value: Fraction) -> str:
    """Return a number for people, with thousands apart.

    >>> readable(Fraction(1234567)), readable(Fraction(5, 4))
    ('1,234,567', '1.25')
    """
    return f"{int(value):,}" if value.denominator == 1 else f"{float(value):,.6g}"


def as_json(release: Release) -> str:
    """Return the answer as one JSON object."""
    low, high = release.interval
    fields: dict[str, Any] = {
        "value": number(release.value),
        "epsilon": number(release.epsilon),
        "noise_scale": float(release.noise_scale),
        "interval": [number(low), number(high)],
        "mechanism": release.mechanism,
        "remaining": None if release.remaining is None else number(release.remaining),
    }
    return json.dumps(fields)


def as_text(release: Release) -> str:
    """Return the answer for a terminal, with what its interval does and does not say."""
    low, high = release.interval
    effect = "move a signed sum either way" if release.signed else "lower a count"
    lines = [
        f"answer    {readable(release.value)}",
        f"interval  {readable(low)} to {readable(high)} (95 %, noise only: truncation can {effect})",
    ]
    left = "" if release.remaining is None else f", {decimal_text(release.remaining)} left"
    lines.append(f"epsilon   {decimal_text(release.epsilon)} charged{left}")
    return "\n".join(lines)
