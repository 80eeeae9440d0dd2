"""A worker: a process of its own that opens the data, and does one thing at a time for the front process.

    python -m recuse.server.worker FD        messages come and go through this socket, and nothing else

It never charges: it is given a receipt, and gives back what was released. When the front process ends, so
does it.
"""

from __future__ import annotations

import json
import os
import queue
import resource
import socket
import sys
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from fractions import Fraction
from typing import Any

from recuse.errors import RecuseError, UnansweredError
from recuse.ledger import Charged, Stored
from recuse.numerals import nearest
from recuse.policy import Policy
from recuse.privacy import decimal_text
from recuse.refusal import said
from recuse.server.asked import asked_of
from recuse.server.frames import LENGTH, Message, framed
from recuse.session.carried import carried
from recuse.session.estimate import RUNS, Estimate
from recuse.session.fingerprint import question_key
from recuse.session.outward import after_charge
from recuse.session.parts import Parts
from recuse.session.session import Session, connect
from recuse.session.spine import arranged, look
from recuse.session.sql_question import SqlQuestion
from recuse.session.statistics import Statistics
from recuse.sql.clock import tells_time
from recuse.sql.owned_words import describe
from recuse.sql.ownership import Linked, Owned, ProtectedTable, PublicTable, own

KEPT = 64
"""questions that are kept as they were understood: explained, described, then asked"""
ROLES = {ProtectedTable: "participant", Linked: "linked", PublicTable: "public", type(None): "closed"}
"""what the policy makes of a table; one that it does not mention is closed"""


class Desk:
    """An open session, and what is done with it, by the word that asks for it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._questions: OrderedDict[tuple[Any, ...], SqlQuestion] = OrderedDict()
        self.tasks: dict[str, Callable[[Message], Any]] = {
            "explain": self.explain,
            "describe": self.describe,
            "bill": self.bill,
            "arrange": self.arrange,
            "look": self.look,
            "public": self.public,
            "estimate": self.estimate,
            "catalogue": self.catalogue,
            "ready": lambda _: None,
            "asked of": lambda asked: asked_of(asked["sql"]),
        }

    def question(self, asked: Message) -> SqlQuestion:
        """Return a question, refused or understood; no private row is read."""
        sql, epsilon, delta, mechanism = (
            asked["sql"],
            asked["epsilon"],
            asked.get("delta"),
            asked["mechanism"],
        )
        moment = datetime.fromisoformat(asked["moment"]) if tells_time(sql) else None
        key = (sql, epsilon, delta, mechanism, moment)
        if key not in self._questions:
            self._questions[key] = self.session.question(
                sql, epsilon, delta=delta, mechanism=mechanism, moment=moment
            )
            while len(self._questions) > KEPT:
                self._questions.popitem(last=False)
        return self._questions[key]

    def explain(self, asked: Message) -> Any:
        found = self.session.explain(asked["sql"])
        return {"text": str(found), "explanation": asdict(found)}

    def describe(self, asked: Message) -> Any:
        plan = self.session.compile(asked["sql"])
        return {"columns": _columns(plan.columns), "public": plan.public is not None or plan.is_public}

    def bill(self, asked: Message) -> Any:
        """Return what is to be paid, and the columns of the answer; nothing for a question about nobody."""
        question = self.question(asked)
        columns = _columns(question.plan.columns)
        if question.plan.public is not None or question.plan.is_public:
            return {"public": True, "columns": columns}
        bill = self.session.bill(question)
        return {
            "public": False,
            "columns": columns,
            "text": bill.text,
            "key": bill.key,
            "policy": bill.policy,
            "source": bill.source,
        }

    def arrange(self, asked: Message) -> Any:
        """Return the answer of which the ledger has the text."""
        remaining, version, text = Fraction(asked["remaining"]), asked["data_version"], asked["answer"]
        receipt = Stored(text, remaining, version) if asked["stored"] else Charged(0, remaining, version)
        return carried(arranged(self.question(asked), text, receipt))

    def look(self, asked: Message) -> Any:
        """Return what is released of a question that is paid for: only here private rows are read.

        Guarantee: private with the ε that was charged (proofs.md, theorems R3 to R7 and J1); what fails is
        an `UnansweredError`, whatever it is.
        """

        def looked() -> str:
            question = self.question(asked)
            if question_key(question) != asked["key"]:  # public tables are not those that were paid for
                raise UnansweredError
            return look(question, Parts()).text

        return after_charge(looked, self.session.failures)

    def public(self, asked: Message) -> Any:
        """Return the exact answer to a question about nobody."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return carried(self.session.reply(self.question(asked)))

    def estimate(self, asked: Message) -> Any:
        like = Statistics(asked["rows"], asked["largest"])
        found = self.session.estimates(
            asked["sql"], asked["epsilons"], like=like, runs=asked.get("runs", RUNS)
        )
        return [_estimate(one) for one in found]

    def catalogue(self, _: Message) -> Any:
        known = self.session.engine.catalogue()
        ownership = own(self.session.policy, known)
        return [
            {
                "name": table.name,
                "view": table.view is not None,
                "owned": describe(ownership.of(table.name)),
                **_owners(ownership.of(table.name)),
                "columns": [asdict(column) for column in table.columns],
                "keys": [list(key) for key in table.keys],
                "foreign_keys": [asdict(key) for key in table.foreign_keys],
            }
            for table in known.tables
        ]


def _owners(owned: Owned | None) -> Message:
    """Return how a table's rows are owned: by which word of the policy, and along which links."""
    links = [
        {"columns": [list(names) for names in hop.alternatives], "to": hop.table or hop.target}
        for hop in (owned.hops if isinstance(owned, Linked) else ())
    ]
    return {"role": ROLES[type(owned)], "links": links}


def _columns(columns: Any) -> list[Message]:
    return [{"name": c.name, "kind": c.kind.value, "label": c.is_label} for c in columns]


def _estimate(found: Estimate) -> Message:
    return {
        "epsilon": decimal_text(found.epsilon),
        "exact": str(found.epsilon),
        "basis": found.basis,
        "columns": [
            {
                "name": column.name,
                "typical": nearest(column.typical),
                "mostly": nearest(column.mostly),
                "value": None if column.value is None else nearest(column.value),
                "exact": [
                    None if number is None else str(number)
                    for number in (column.typical, column.mostly, column.value)
                ],
            }
            for column in found.columns
        ],
        "cautions": list(found.cautions),
        "text": str(found),
    }


def answered(desk: Desk, asked: Message) -> Message:
    """Return what is said to a request: found, refused, or failed and no more."""
    try:
        return {"found": desk.tasks[asked["do"]](asked)}
    except UnansweredError:
        return {"failed": True}
    except RecuseError as error:
        return {"refused": said(error)}
    except BaseException:  # before the charge as well: what is unforeseen may quote anything
        return {"failed": True}


def opened(asked: Message) -> Session:
    """Return the session on the data that the first message names."""
    if asked["memory"] is not None:
        resource.setrlimit(resource.RLIMIT_AS, (asked["memory"], asked["memory"]))
    return connect(asked["source"], Policy.read(asked["policy"]), asked["ledger"])


def serve(channel: socket.socket) -> None:
    """Answer requests, one after another, until the front process ends."""
    requests: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(channel, requests), daemon=True).start()
    try:
        desk = Desk(opened(requests.get()))
    except RecuseError as error:
        channel.sendall(framed({"refused": said(error)}))
        return
    channel.sendall(framed({"found": None}))
    while True:
        channel.sendall(framed(answered(desk, requests.get())))


def _read(channel: socket.socket, requests: queue.SimpleQueue[Message]) -> None:
    """Pass requests on; when there will be none any more, end the process, whatever it is doing."""
    stream = channel.makefile("rb")
    try:
        while head := stream.read(LENGTH.size):
            (size,) = LENGTH.unpack(head)
            requests.put(json.loads(stream.read(size)))
    finally:
        os._exit(0)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
