"""The sections of a policy file, each a sentence: TOML → the fields of a `Policy`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import recuse.policy.terms as terms
from recuse.errors import PolicyError
from recuse.policy.engine import LEAST_MEMORY, MOST_THREADS, EngineLimits, size, too_little, wrong_threads
from recuse.policy.ranges import domain_range
from recuse.policy.toml import Section, read_sections, subsections
from recuse.privacy import LEAST_DELTA, MOST_DELTA, Delta, Epsilon, decimal_text

MAX_PLACES = 9


def fields_of(text: str) -> dict[str, Any]:
    """Return the fields of the policy that a TOML text writes down; an error names the line and the fix."""
    found = read_sections(
        text,
        lists=("protect", "link", "public", "key", "nonnegative", "typical", "domain"),
        single=("columns", "budget", "sum", "rows", "engine", "log"),
    )
    budget = [_budget(section) for section in found["budget"]]
    delta = [_delta(section) for section in found["budget"]]
    granularity = [_granularity(section) for section in found["sum"]]
    logs = [_failure_log(section) for section in found["log"]]
    engine = [_engine(section) for section in found["engine"]]
    return {
        "protect": tuple(map(_protect, found["protect"])),
        "links": tuple(map(_link, found["link"])),
        "public": tuple(map(_public, found["public"])),
        "keys": tuple(map(_key, found["key"])),
        "nonnegative": tuple(map(_nonnegative, found["nonnegative"])),
        "typical": tuple(map(_typical, found["typical"])),
        "columns": tuple(
            terms.ColumnType(table.name.partition(".")[2], column, table.text(column), table.at(column))
            for section in found["columns"]
            for table in subsections(section, text)
            for column in table.fields
        ),
        "domains": tuple(map(_domain, found["domain"])),
        "budget": budget[0] if budget else None,
        "delta": delta[0] if delta else None,
        "granularity": granularity[0] if granularity else Fraction(1),
        "rows": tuple(one for section in found["rows"] for one in _rows(section)),
        "failure_log": logs[0] if logs else None,
        "engine": engine[0] if engine else EngineLimits(),
    }


def _protect(section: Section) -> terms.Protect:
    section.only("table", "key", "kind")
    if "kind" in section.fields and "table" in section.fields:
        raise PolicyError(
            "[[protect]] has both a kind and a table",
            line=section.at("kind"),
            hint="a protected table's kind is its name: leave kind out; a kind alone needs no table",
        )
    if "kind" in section.fields:
        section.only("kind")
        return terms.Protect.virtual(section.text("kind"), line=section.at("kind"))
    return terms.Protect.rows(section.text("table"), *section.texts("key"), line=section.at("table"))


def _link(section: Section) -> terms.Link:
    section.only("table", "column", "any", "to")
    if "column" in section.fields and "any" in section.fields:
        raise PolicyError(
            "[[link]] has both column and any",
            line=section.at("any"),
            hint="column: the row needs this owner; any: one of several owners is enough",
        )
    table, to = section.text("table"), section.text("to")
    if "any" in section.fields:
        return terms.Link.any(table, *section.lists("any"), to=to, line=section.at("table"))
    return terms.Link.all(table, *section.texts("column"), to=to, line=section.at("table"))


def _public(section: Section) -> terms.Public:
    section.only("table")
    return terms.Public(section.text("table"), section.at("table"))


def _key(section: Section) -> terms.Key:
    section.only("table", "column")
    return terms.Key(section.text("table"), section.texts("column"), section.at("table"))


def _nonnegative(section: Section) -> terms.NonNegative:
    section.only("table", "column")
    return terms.NonNegative(section.text("table"), section.texts("column"), section.at("table"))


def _typical(section: Section) -> terms.Typical:
    section.only("table", "column", "value")
    value = section.number("value")
    return terms.Typical(section.text("table"), section.texts("column"), value, section.at("value"))


def _domain(section: Section) -> terms.Domain:
    section.only("table", "column", "values", "from", "to", "step", "query")
    ways = [way for way in ("values", "from", "query") if way in section.fields]
    if len(ways) > 1:
        raise PolicyError(
            f"[[domain]] has both {ways[0]} and {ways[1]}",
            line=section.at(ways[1]),
            hint="say it once: values = [...], or from and to, or query",
        )
    values: terms.DomainValues
    if "query" in section.fields:
        values = terms.DomainQuery(section.text("query"))
    elif "from" in section.fields or "to" in section.fields:
        values = domain_range(section)
    else:
        values = section.values("values")
    return terms.Domain(
        section.text("table"), section.text("column"), values, section.at(ways[0] if ways else "values")
    )


def _delta(section: Section) -> Delta | None:
    if "delta" not in section.fields:
        return None
    value = section.number("delta")
    if not LEAST_DELTA <= value <= MOST_DELTA or 10**18 % value.denominator:
        raise PolicyError(
            "the delta of the budget is out of range",
            line=section.at("delta"),
            found=decimal_text(value),
            accepted="1e-18 to 0.001, at most 18 decimal places",
            hint="it is the chance that somebody is told of: far below one in the number of people",
        )
    return Delta(value)


def _budget(section: Section) -> Epsilon:
    section.only("epsilon", "delta")
    value = section.number("epsilon")
    if not Fraction(1, 10**6) <= value <= 1000:
        raise PolicyError(
            "the budget is out of range",
            line=section.at("epsilon"),
            found=decimal_text(value),
            accepted="0.000001 to 1000",
        )
    return Epsilon(value)


def _failure_log(section: Section) -> Path:
    section.only("failures")
    return Path(section.text("failures"))


def _granularity(section: Section) -> Fraction:
    section.only("granularity")
    value = section.number("granularity")
    refuse_unusable_granularity(value, line=section.at("granularity"))
    return value


def _rows(section: Section) -> Iterator[tuple[str, int]]:
    for table in section.fields:
        number = section.number(table)
        if number.denominator != 1 or number < 0:
            raise PolicyError(
                f"the number of rows of {table} is no whole number",
                line=section.at(table),
                found=decimal_text(number),
                hint=f"{table} = 1000",
            )
        yield table, int(number)


def _engine(section: Section) -> EngineLimits:
    section.only("memory", "threads", "temp", "temp_limit")

    def bytes_of(name: str) -> int | None:
        return size(section.text(name), name, section.at(name)) if name in section.fields else None

    memory, threads = bytes_of("memory"), None
    if memory is not None and memory < LEAST_MEMORY:
        raise too_little(section.text("memory"), section.at("memory"))
    if "threads" in section.fields:
        number = section.number("threads")
        if number.denominator != 1 or not 1 <= number <= MOST_THREADS:
            raise wrong_threads(decimal_text(number), section.at("threads"))
        threads = int(number)
    temp = section.text("temp") if "temp" in section.fields else None
    return EngineLimits(memory, threads, temp, bytes_of("temp_limit"))


def refuse_unusable_granularity(value: Fraction, *, line: int | None = None) -> None:
    """Refuse a granularity whose reciprocal is not a short decimal: sums are scaled by it exactly."""
    usable = (
        value > 0 and (10**MAX_PLACES / value).denominator == 1 and (10**MAX_PLACES * value).denominator == 1
    )
    if not usable:
        raise PolicyError(
            "the granularity cannot be used",
            line=line,
            found=str(value),
            accepted="a positive decimal that divides a power of ten, such as 0.01, 0.5, 1 or 1000",
        )
