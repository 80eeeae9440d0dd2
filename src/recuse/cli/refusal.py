"""What a refusal says at the command line: the library's words, and the option that they are about."""

from __future__ import annotations

import sys

from recuse.errors import AnalystError, LayoutError, RecuseError, StatisticsError

OPTIONS = {
    AnalystError.code: "--analyst NAME; recuse budget grant LEDGER --analyst NAME --epsilon E names one",
    LayoutError.code: "--separator ';', --header or --no-header, --comment '#'",
    StatisticsError.code: "--rows TABLE=NUMBER",
}
"""which option a refusal is about, by the refusal's code, where its words do not say so"""


def refused(error: RecuseError) -> str:
    """Return what is printed to standard error: on a terminal with the command that explains it."""
    more = error.explained() if sys.stderr.isatty() else []
    return "\n".join([refusal(error), *more])


def refusal(error: RecuseError) -> str:
    """Return a refusal as one line."""
    option = OPTIONS.get(error.code)
    return f"recuse: {error}" if option is None else f"recuse: {error} ({option})"
