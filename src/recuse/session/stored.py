"""What was released as text for the ledger, and back: exact, so that a stored answer is the answer.

Nothing is written that was not released. Names, formulas and the order of rows are not: they are made anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

from recuse.errors import LedgerError
from recuse.mechanism.release import Release
from recuse.session.formulas import Keys
from recuse.session.question import Releases

PLAIN = (str, int, float, bool, type(None))
TAGGED: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "fraction": (Fraction, str, Fraction),
    "decimal": (Decimal, str, Decimal),
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "date": (date, date.isoformat, date.fromisoformat),
    "time": (time, time.isoformat, time.fromisoformat),
    "interval": (
        timedelta,
        lambda span: [span.days, span.seconds, span.microseconds],
        lambda parts: timedelta(*parts),
    ),
    "bytes": (bytes, bytes.hex, bytes.fromhex),
    "uuid": (UUID, str, UUID),
}
"""Types of group keys besides JSON's own: how each is written and read; a datetime is a date, too."""


def stored_text(keys: Sequence[Keys], releases: Releases, firsts: Sequence[Releases] = ()) -> str:
    """Return what was released as one line of JSON: of all groups, and what was released first."""
    return json.dumps(
        {
            "groups": [list(map(written_key, group)) for group in keys],
            "parts": _parts(releases),
            **({"firsts": [_parts(first) for first in firsts]} if firsts else {}),
        }
    )


def restored(text: str) -> tuple[list[Keys], Releases, list[Releases]]:
    """Return the groups and releases that were written down, and what was released first."""
    try:
        found = json.loads(text)
        groups = [tuple(map(read_key, group)) for group in found["groups"]]
        firsts = [_releases(first) for first in found.get("firsts", [])]
        return groups, _releases(found["parts"]), firsts
    except (ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError):
        raise LedgerError(
            "a stored answer cannot be read, so nothing is answered", hint="restore the ledger from a backup"
        ) from None


def _parts(releases: Releases) -> list[list[dict[str, Any]]]:
    return [[release_fields(release) for release in part] for part in releases]


def _releases(parts: list[list[dict[str, Any]]]) -> Releases:
    return [[release_of(fields) for fields in part] for part in parts]


def written_key(value: Any) -> Any:
    if isinstance(value, PLAIN):
        return value
    for tag, (kind, write, _) in TAGGED.items():
        if isinstance(value, kind):
            return {tag: write(value)}
    return {"text": str(value)}


def read_key(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((tag, text),) = value.items()
    return text if tag == "text" else TAGGED[tag][2](text)


def release_fields(release: Release) -> dict[str, Any]:
    low, high = release.interval
    return {
        "value": str(release.value),
        "low": None if low is None else str(low),
        "high": None if high is None else str(high),
        "epsilon": str(release.epsilon),
        "noise_scale": str(release.noise_scale),
        "mechanism": release.mechanism,
        "signed": release.signed,
        "undefined": release.undefined,
        "counted": release.counted,
        "unit": str(release.unit),
        "truncated": release.truncated,
        "noise_epsilon": None if release.noise_epsilon is None else str(release.noise_epsilon),
        "cut": None if release.cut is None else str(release.cut),
    }


def release_of(found: dict[str, Any]) -> Release:
    share, cut = found["noise_epsilon"], found.get("cut")
    low, high = (None if found[end] is None else Fraction(found[end]) for end in ("low", "high"))
    return Release(
        value=Fraction(found["value"]),
        interval=(low, high),
        noise_scale=Fraction(found["noise_scale"]),
        epsilon=Fraction(found["epsilon"]),
        mechanism=str(found["mechanism"]),
        signed=bool(found["signed"]),
        undefined=bool(found.get("undefined", False)),
        counted=bool(found.get("counted", not found["signed"])),
        unit=Fraction(found.get("unit", 1)),
        truncated=bool(found.get("truncated", True)),
        noise_epsilon=None if share is None else Fraction(share),
        cut=None if cut is None else Fraction(cut),
    )
