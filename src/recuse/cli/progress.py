"""Progress of a private question: a spinner and the time that has passed, and nothing else.

How far the work has come would tell about the data (how many cuts, how many rows), so it is never shown.
"""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
PAUSE = 0.1
QUIET = 0.5
"""Seconds before anything is shown: a quick answer needs no spinner."""
ERASE = "\r\x1b[K"


@contextmanager
def working(stream: TextIO | None = None) -> Iterator[None]:
    """Show a spinner and the elapsed time on a terminal's standard error while the body runs.

    Guarantee: what is shown depends on the clock only; nothing is written if the stream is no terminal.
    """
    out = stream or sys.stderr
    if not out.isatty():
        yield
        return
    done = threading.Event()
    spinner = threading.Thread(target=_spin, args=(out, done), daemon=True)
    spinner.start()
    try:
        yield
    finally:
        done.set()
        spinner.join()


def _spin(out: TextIO, done: threading.Event) -> None:
    started = time.monotonic()
    if done.wait(QUIET):
        return
    for frame in itertools.cycle(FRAMES):
        out.write(f"{ERASE}{frame} {time.monotonic() - started:.1f} s")
        out.flush()
        if done.wait(PAUSE):
            break
    out.write(ERASE)
    out.flush()
