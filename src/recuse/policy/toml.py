"""TOML text → sections whose fields know their line and are read with their type."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

from recuse.errors import PolicyError
from recuse.fold import fold

MAX_SIZE = 1_000_000
_HEADER = re.compile(r"\s*\[\[?\s*(.+?)\s*\]\]?\s*(#.*)?")
_FIELD = re.compile(r"\s*(?:\"([^\"]+)\"|'([^']+)'|([A-Za-z0-9_.-]+))\s*=")
_ERROR_LINE = re.compile(r"\(at line (\d+), column \d+\)")


@dataclass(frozen=True, slots=True)
class Section:
    """One table of the TOML text: its fields, the line of its header, the lines of its fields."""

    name: str
    fields: Mapping[str, Any]
    line: int | None
    lines: Mapping[str, int]

    def at(self, field: str) -> int | None:
        """Return the line of a field, or of the section where the field is absent."""
        return self.lines.get(field, self.line)

    def only(self, *known: str) -> None:
        """Refuse a field that the section does not have."""
        for field in self.fields:
            if field not in known:
                raise PolicyError(
                    f"[{self.name}] has no field {field!r}",
                    line=self.at(field),
                    accepted=", ".join(known),
                    hint=did_you_mean(field, known),
                )

    def text(self, field: str) -> str:
        """Return a field that must be a non-empty string."""
        value = self.fields.get(field)
        if not isinstance(value, str) or not value.strip():
            raise self._wrong(field, "a name in quotes", f'{field} = "name"')
        return value

    def texts(self, field: str) -> tuple[str, ...]:
        """Return a field that must be a list of strings."""
        value = self.fields.get(field)
        if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
            raise self._wrong(field, "a list of columns", f'{field} = ["column"]')
        return tuple(value)

    def lists(self, field: str) -> tuple[tuple[str, ...], ...]:
        """Return a field that must be a list of lists of strings."""
        value = self.fields.get(field)
        good = isinstance(value, list) and all(
            isinstance(items, list)
            and items
            and all(isinstance(item, str) and item.strip() for item in items)
            for items in value
        )
        if value is None or not good or not value:
            raise self._wrong(field, "a list of lists of columns", f'{field} = [["a"], ["b"]]')
        return tuple(tuple(items) for items in value)

    def values(self, field: str) -> tuple[str | int | Fraction, ...]:
        """Return a field that must be a list of texts or numbers."""
        value = self.fields.get(field)
        good = isinstance(value, list) and all(
            isinstance(item, str | int | Decimal) and not isinstance(item, bool) for item in value
        )
        if value is None or not good:
            raise self._wrong(field, "a list of texts or numbers", f'{field} = ["a", "b"]')
        return tuple(Fraction(item) if isinstance(item, Decimal) else item for item in value)

    def number(self, field: str) -> Fraction:
        """Return a field that must be a finite number, exactly as written."""
        value = self.fields.get(field)
        good = isinstance(value, int | Decimal) and not isinstance(value, bool)
        if value is None or not good or not Decimal(value).is_finite() or abs(Decimal(value).adjusted()) > 30:
            raise self._wrong(field, "a number", f"{field} = 0.01")
        return Fraction(value)

    def _wrong(self, field: str, accepted: str, hint: str) -> PolicyError:
        if field not in self.fields:
            return PolicyError(f"[{self.name}] needs {field!r}", line=self.line, accepted=accepted, hint=hint)
        found = str(self.fields[field])
        problem = f"{field!r} of [{self.name}] is of the wrong type"
        return PolicyError(problem, line=self.at(field), found=found, accepted=accepted, hint=hint)


def did_you_mean(word: str, known: tuple[str, ...]) -> str | None:
    """Return a hint with the nearest known word, if one is near."""
    near = get_close_matches(fold(word), {fold(name): name for name in known}, n=1)
    spelled = {fold(name): name for name in known}
    return f"did you mean {spelled[near[0]]!r}?" if near else None


def read_sections(text: str, *, lists: tuple[str, ...], single: tuple[str, ...]) -> dict[str, list[Section]]:
    """Return the sections by name: `lists` may occur several times, `single` once; any other is refused."""
    if len(text) > MAX_SIZE:
        raise PolicyError("the policy is too long", found=f"{len(text)} characters", accepted=f"{MAX_SIZE}")
    try:
        document = tomllib.loads(text, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, RecursionError, ArithmeticError, ValueError) as error:
        place = _ERROR_LINE.search(str(error))
        problem = _ERROR_LINE.sub("", str(error)).strip() or "nested too deeply"
        raise PolicyError(
            f"not TOML: {problem[:1].lower()}{problem[1:]}", line=int(place[1]) if place else None
        ) from None
    places = _places(text)
    found: dict[str, list[Section]] = {name: [] for name in (*lists, *single)}
    for name, value in document.items():
        line = next((line for (header, _), (line, _) in places.items() if header.split(".")[0] == name), None)
        if name not in found:
            raise PolicyError(
                f"unknown section [{name}]",
                line=line if line is not None else places["", 0][1].get(name),
                accepted=", ".join(f"[[{n}]]" if n in lists else f"[{n}]" for n in found),
                hint=did_you_mean(name, tuple(found)),
            )
        if name in lists and not (isinstance(value, list) and all(isinstance(v, dict) for v in value)):
            raise PolicyError(
                f"{name} is a list of sections", line=line, hint=f"write [[{name}]] in double brackets"
            )
        if name in single and not isinstance(value, dict):
            raise PolicyError(f"{name} is one section", line=line, hint=f"write [{name}] in single brackets")
        for number, fields in enumerate(value if name in lists else [value]):
            header, lines = places.get((name, number), (line, {}))
            found[name].append(Section(name, fields, header, lines))
    return found


def subsections(section: Section, text: str) -> list[Section]:
    """Return the tables inside a section, such as [columns.orders] of [columns]."""
    places = _places(text)
    found = []
    for name, fields in section.fields.items():
        full = f"{section.name}.{name}"
        header, lines = places.get((full, 0), (section.line, {}))
        if not isinstance(fields, dict):
            raise PolicyError(
                f"[{section.name}] holds one section a table",
                line=section.at(name),
                found=name,
                hint=f'write [{section.name}.TABLE], then column = "SQL TYPE"',
            )
        found.append(Section(full, fields, header, lines))
    return found


def _places(text: str) -> dict[tuple[str, int], tuple[int | None, dict[str, int]]]:
    """Return for the n-th section of each name its line and those of its fields."""
    current: tuple[int | None, dict[str, int]] = (None, {})
    places = {("", 0): current}
    seen: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.fullmatch(line):
            name = header[1].replace('"', "").replace("'", "").replace(" ", "")
            current = (number, {})
            places[name, seen.get(name, 0)] = current
            seen[name] = seen.get(name, 0) + 1
        elif entry := _FIELD.match(line):
            current[1].setdefault(entry[1] or entry[2] or entry[3], number)
    return places
