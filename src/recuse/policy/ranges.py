"""[[domain]] by range: from one value to another, in steps if it says so."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta
from fractions import Fraction

from recuse.errors import PolicyError
from recuse.policy.terms import Bound, DomainRange
from recuse.policy.toml import Section

MOST_VALUES = 10_000
MONTHS = {"month": 1, "quarter": 3, "year": 12}
DAYS = {"day": 1, "week": 7}


def domain_range(section: Section) -> tuple[Bound, ...] | DomainRange:
    """Return the range of a [[domain]]; with a step, the list of its values."""
    low, high = section.fields.get("from"), section.fields.get("to")
    if isinstance(low, str) and isinstance(high, str):
        return _dates(section, _day(section, "from"), _day(section, "to"))
    return _numbers(section, section.number("from"), section.number("to"))


def _numbers(section: Section, low: Fraction, high: Fraction) -> tuple[Bound, ...] | DomainRange:
    _ordered(section, low <= high)
    if "step" not in section.fields:
        whole = low.denominator == high.denominator == 1
        return DomainRange(*(int(end) if whole else end for end in (low, high)))
    step = section.number("step")
    if step <= 0:
        raise PolicyError("the step of a domain is above 0", line=section.at("step"), found=str(step))
    count = (high - low) // step + 1
    _few(section, count)
    values = (low + place * step for place in range(count))
    return tuple(int(value) if value.denominator == 1 else value for value in values)


def _dates(section: Section, low: date, high: date) -> tuple[Bound, ...] | DomainRange:
    _ordered(section, low <= high)
    if "step" not in section.fields or section.fields["step"] == "day":
        return DomainRange(low.isoformat(), high.isoformat())
    step = section.text("step")
    if step not in {*MONTHS, *DAYS}:
        raise PolicyError(
            "the step of dates is a unit",
            line=section.at("step"),
            found=step,
            accepted=", ".join([*DAYS, *MONTHS]),
        )
    found = [low]
    while (after := _after(low, step, len(found))) <= high:
        found.append(after)
        _few(section, len(found))
    return tuple(day.isoformat() for day in found)


def _after(first: date, step: str, times: int) -> date:
    """Return the date so many steps after the first; the last day of a month that is too short for it."""
    if step in DAYS:
        days = DAYS[step] * times
        return first + timedelta(days=days) if days <= (date.max - first).days else date.max
    months = first.year * 12 + first.month - 1 + MONTHS[step] * times
    year, month = divmod(months, 12)
    if year > date.max.year:
        return date.max
    return date(year, month + 1, min(first.day, monthrange(year, month + 1)[1]))


def _day(section: Section, field: str) -> date:
    text = section.text(field)
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise PolicyError(
            f"{field!r} of [[domain]] is no date",
            line=section.at(field),
            found=text,
            accepted='numbers, or dates such as "2020-01-31"',
        ) from None


def _ordered(section: Section, ordered: bool) -> None:
    if not ordered:
        raise PolicyError("a domain goes from its first value to its last", line=section.at("to"))


def _few(section: Section, count: int) -> None:
    if count > MOST_VALUES:
        raise PolicyError(
            "the domain has too many values", line=section.at("step"), accepted=f"{MOST_VALUES:,}"
        )
