"""What of an answer may not depend on the data: whether there is one, and all of it but its numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

from recuse.cli.show import as_json
from recuse.engines.engine import Engine
from recuse.errors import RecuseError
from recuse.mechanism.release import Release
from recuse.policy import Policy
from recuse.privacy import Epsilon
from recuse.session.answer import Answer
from recuse.session.parts import Parts
from recuse.session.place import LedgerLocation
from recuse.session.session import Session


def form(answer: Release | Answer) -> object:
    """Return the shape of an answer: names, keys, fields and costs, without the numbers that are noisy."""
    noisy = {"value", "noise_scale", "noise_interval", "noise_is_large", "truth"}
    told = [json.loads(line) for line in as_json(answer).splitlines()]
    for line in told:
        line.pop("cautions", None)  # whether there are any follows from the numbers
    return [(list(line), {name: line[name] for name in line.keys() - noisy}) for line in told]


def session_on(engine: Engine, policy: Policy, grant: int = 1000) -> Session:
    """Return a session on an engine, with a ledger in memory."""
    granted = replace(policy, budget=Epsilon(Fraction(grant)))
    return Session(engine, granted, LedgerLocation(None, None), Parts())


def outcome(session: Session, sql: str, epsilon: str, mechanism: str = "selective") -> object:
    """Return the form of an answer, or what was said in refusing it."""
    try:
        answer = session.ask(sql, epsilon, mechanism=mechanism)
    except RecuseError as error:
        return type(error), str(error)
    str(answer), repr(answer), answer._repr_html_()
    return form(answer)
