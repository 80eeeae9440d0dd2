"""What the HTTP door shows: answers for programs, with all that a client needs to make the same answer."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from recuse.errors import RecuseError
from recuse.ledger import Balance, Charge, Token
from recuse.numerals import nearest
from recuse.privacy import decimal_text
from recuse.server.http.problems import problem
from recuse.server.inquiry import Job
from recuse.session.answer import Answer
from recuse.session.carried import carried
from recuse.session.stored import written_key

JsonObject = dict[str, Any]


def shown_job(job: Job) -> JsonObject:
    """Return a question on its way: its state, and what it came to."""
    at = None if job.not_before is None else job.not_before.isoformat(timespec="milliseconds")
    left = 0.0 if job.not_before is None else (job.not_before - datetime.now(UTC)).total_seconds()
    told: JsonObject = {"id": job.id, "state": "waiting", "not_before": at, "wait": round(max(left, 0.0), 3)}
    if not job.done.done():
        return told
    if job.done.cancelled():
        return told | {"state": "unanswered"}
    error = job.done.exception()
    if isinstance(error, RecuseError):
        return told | {
            "state": "unanswered" if error.code == "unanswered" else "refused",
            "problem": problem(error),
        }
    return told | {"state": "done", "answer": shown_answer(job.done.result(), job)}


def shown_answer(answer: Answer, job: Job) -> JsonObject:
    """Return an answer: rows in the order of the SELECT, ends of the noise beside them, and `exact`."""
    rows, low, high = [], [], []
    for row in answer:
        keys, cells = iter(row.keys), iter(row.cells)
        found = [(next(keys), None, None) if c["label"] else _ends(next(cells)) for c in job.columns]
        rows.append([_plain(value) for value, _, _ in found])
        low.append([_plain(end) for _, end, _ in found])
        high.append([_plain(end) for _, _, end in found])
    return {
        "columns": job.columns,
        "rows": rows,
        "low": low,
        "high": high,
        "epsilon": decimal_text(answer.epsilon),
        "remaining": None if answer.remaining is None else decimal_text(answer.remaining),
        "stored": answer.stored,
        "text": str(answer),
        "exact": carried(answer),
    }


def _ends(cell: Any) -> tuple[Any, Any, Any]:
    return cell.value, *cell.interval


def _plain(value: Any) -> Any:
    found = written_key(value)
    if not isinstance(found, dict):
        return found
    ((tag, text),) = found.items()
    return nearest(value) if tag == "fraction" else text


def shown_balance(balance: Balance) -> JsonObject:
    """Return what is granted, spent and left."""
    amounts = ("granted", "spent", "remaining")
    return {name: decimal_text(getattr(balance, name)) for name in amounts} | {
        "delta": {name: decimal_text(getattr(balance, f"{name}_delta")) for name in amounts}
    }


def shown_charge(number: int, charge: Charge) -> JsonObject:
    """Return an entry of the history."""
    return {
        "number": number,
        "at": charge.at,
        "epsilon": decimal_text(charge.epsilon),
        "delta": decimal_text(charge.delta),
        "sql": charge.query,
        "analyst": charge.analyst,
        "data_version": charge.data_version,
        "door": charge.door,
        "answer": None if charge.answer is None else json.loads(charge.answer),
    }


def shown_token(token: Token) -> JsonObject:
    """Return a token as it is listed: nothing in it opens anything."""
    return asdict(token) | {"role": token.role.value}
