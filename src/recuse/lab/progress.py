"""Stages and progress of long work, on a terminal. In the laboratory nothing is private: it may be shown."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO

ERASE = "\r\x1b[K"
PAUSE = 0.2
"""seconds between two lines of progress"""


@dataclass(slots=True)
class Progress:
    """What is being done and how far it is, in a line that is written over; only a terminal is told."""

    out: TextIO = field(default_factory=lambda: sys.stderr)
    began: float = field(default_factory=time.monotonic)
    _said: float = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Say what is begun, and when it has ended how long it took."""
        started = time.monotonic()
        self._write(f"{name} …")
        ended = "stopped after "
        try:
            yield
            ended = ""
        finally:
            if self.out.isatty():
                self.out.write(f"{ERASE}{name}: {ended}{time.monotonic() - started:.1f} s\n")

    def step(self, name: str, done: int, of: int) -> None:
        """Say how many of so many are done, now and then, and about how long the rest takes."""
        now = time.monotonic()
        if now - self._said < PAUSE and done < of:
            return
        self._said = now
        left = (now - self.began) / max(done, 1) * (of - done)
        self._write(f"{name} {done:,} of {of:,}, about {left:.0f} s more")

    def _write(self, text: str) -> None:
        if self.out.isatty():
            self.out.write(f"{ERASE}{text}")
            self.out.flush()
