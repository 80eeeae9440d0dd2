"""[engine]: what a database that we open may use of the machine. No answer means another thing by it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from recuse.errors import PolicyError

LEAST_MEMORY = 64_000_000
MOST_THREADS = 1024
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?) ?([KMGT]i?B)", re.IGNORECASE)
_UNITS = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """Memory and temporary space in bytes, threads, and the folder for temporary files; None is the default.

    The defaults are DuckDB's: 80 % of the memory, as many threads as processors, 90 % of what is free of the
    disk. Temporary files lie in a private folder of their own, within `temp` or the system's place for them.
    """

    memory: int | None = None
    threads: int | None = None
    temp: str | None = None
    temp_limit: int | None = None

    def __post_init__(self) -> None:
        if self.memory is not None and self.memory < LEAST_MEMORY:
            raise too_little(str(self.memory), None)
        if self.threads is not None and not 1 <= self.threads <= MOST_THREADS:
            raise wrong_threads(str(self.threads), None)
        if self.temp_limit is not None and self.temp_limit < 0:
            raise PolicyError("the limit of temporary space is negative", found=str(self.temp_limit))


def too_little(found: str, line: int | None) -> PolicyError:
    """Return the refusal of a memory limit in which nothing can run."""
    return PolicyError(
        "[engine] memory is too little",
        line=line,
        found=found,
        accepted="64MB or more",
        hint='write memory = "4GB", or leave it out: 80 % of the memory',
    )


def wrong_threads(found: str, line: int | None) -> PolicyError:
    """Return the refusal of a number of threads."""
    return PolicyError(
        "[engine] threads is no number of threads",
        line=line,
        found=found,
        accepted=f"1 to {MOST_THREADS}",
        hint="write threads = 2, or leave it out: one for each processor",
    )


def size(text: str, name: str, line: int | None) -> int:
    """Return a size such as 4GB or 1.5 GiB in bytes.

    >>> size("200MB", "memory", None), size("1.5 GiB", "memory", None)
    (200000000, 1610612736)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise PolicyError(
            f"[engine] {name} is no size",
            line=line,
            found=text,
            accepted="a number with KB, MB, GB or TB (or KiB, MiB, GiB, TiB)",
            hint=f'write {name} = "4GB"',
        )
    return int(Fraction(match[1]) * _UNITS[match[2].lower()])
