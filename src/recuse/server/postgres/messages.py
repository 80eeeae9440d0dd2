"""What a client is told of outcomes: rows, copies, notices, and refusals by their SQLSTATE."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from recuse.errors import RecuseError
from recuse.server.postgres.conversation import Outcome
from recuse.server.postgres.states import StateError
from recuse.server.postgres.values import written
from recuse.server.postgres.wire import data_row, fields, message, row_description, text

STATES = {
    "query": "0A000",
    "query.table": "42P01",
    "query.column": "42703",
    "query.closed": "42501",
    "policy": "0A000",
    "parameter": "22023",
    "parameter.statistics": "22023",
    "budget": "53400",
    "ledger": "55000",
    "ledger.analyst": "42501",
    "database": "58030",
    "unanswered": "58000",
    "busy": "53300",
    "unavailable": "57P03",
    "relay": "57P03",
    "sign-in": "28P01",
    "protocol": "08P01",
}
"""by the code of a refusal; what has none is a mistake of ours"""
COPY_SIGNATURE = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0)


def refused(error: RecuseError, *, fatal: bool = False, sql: str | None = None) -> bytes:
    """Return a refusal: what is wrong, where, and what to write instead."""
    level = "FATAL" if fatal else "ERROR"
    state = error.state if isinstance(error, StateError) else STATES.get(error.code, "XX000")
    said = {"S": level, "V": level, "C": state, "M": error.problem, "R": error.code}
    details = [f"found: {error.found}"] if error.found else []
    details += [f"accepted: {error.accepted}"] if error.accepted else []
    if details:
        said["D"] = "; ".join(details)
    if error.hint:
        said["H"] = error.hint
    line, column = getattr(error, "line", None), getattr(error, "column", None)
    if sql is not None and line is not None and column is not None:
        said["P"] = str(sum(len(one) + 1 for one in sql.split("\n")[: line - 1]) + column)
    return fields(b"E", said)


def cancelled() -> bytes:
    """Return that a client has stopped waiting."""
    said = {"S": "ERROR", "V": "ERROR", "C": "57014", "M": "nobody waits any more; a charge stays"}
    return fields(b"E", said)


def notice(message: str, detail: str) -> bytes:
    """Return a notice."""
    return fields(b"N", {"S": "NOTICE", "V": "NOTICE", "C": "00000", "M": message, "D": detail})


def finished(outcome: Outcome) -> bytes:
    """Return the end of a statement, and what is to be noticed of it."""
    end = message(b"C", text(outcome.tag)) if outcome.tag else message(b"I")
    return (b"" if outcome.notice is None else notice(*outcome.notice)) + end


def described(outcome: Outcome, formats: Sequence[int]) -> bytes:
    """Return the columns of an outcome."""
    return b"" if outcome.columns is None else row_description(outcome.columns, formats)


def rows(outcome: Outcome, formats: Sequence[int], first: int = 0, most: int | None = None) -> bytes:
    """Return rows of an outcome, in text or in binary."""
    columns = outcome.columns or ()
    chosen = outcome.rows[first : None if most is None else first + most]
    return b"".join(
        data_row(written(value, c.type, how) for value, c, how in zip(row, columns, formats, strict=True))
        for row in chosen
    )


def copied(outcome: Outcome, *, binary: bool) -> bytes:
    """Return an outcome as COPY has it."""
    columns = outcome.columns or ()
    how = int(binary)
    begin = message(b"H", struct.pack(">bh", how, len(columns)), struct.pack(">h", how) * len(columns))
    rows = [[written(v, c.type, how) for v, c in zip(row, columns, strict=True)] for row in outcome.rows]
    if binary:
        # a row is its number of cells and each behind its length: what a data row is, too
        parts = [*(data_row(cells)[5:] for cells in rows), struct.pack(">h", -1)]
        parts[0] = COPY_SIGNATURE + parts[0]
    else:
        parts = [b"\t".join(map(_escaped, cells)) + b"\n" for cells in rows]
    return begin + b"".join(message(b"d", part) for part in parts) + message(b"c")


def _escaped(cell: bytes | None) -> bytes:
    if cell is None:
        return b"\\N"
    for plain, said in ((b"\\", b"\\\\"), (b"\t", b"\\t"), (b"\n", b"\\n"), (b"\r", b"\\r")):
        cell = cell.replace(plain, said)
    return cell
