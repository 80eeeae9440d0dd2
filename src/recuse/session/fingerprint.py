"""Names for what an answer depends on: hashes of public things only."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from recuse.policy import Policy
from recuse.session.question import Question


def policy_hash(policy: Policy) -> str:
    """Return the hash of what a policy says of tables and owners: not of comments, nor of the budget."""
    return fingerprint("policy", _said(replace(policy, budget=None, delta=None)))


def question_key(question: Question) -> str:
    """Return the key of a question: all that its answer's distribution depends on, the data excepted.

    That is what it means (its identity), the settings of the mechanism with their share of ε, the units, the
    policy, and this program's version.
    """
    parts = [_said(part) for asked in (question, *question.firsts) for part in asked.parts]
    losses = [] if question.delta is None else [str(question.loss), str(question.delta)]
    return fingerprint("question", program_version(), question.policy, question.identity(), parts, *losses)


def fingerprint(kind: str, *parts: object) -> str:
    """Return the hash of a list of parts that JSON can write; `kind` keeps different things apart."""
    return sha256(json.dumps([kind, *parts], sort_keys=True).encode()).hexdigest()


@cache
def program_version() -> str:
    """Return the version of this program: another one may answer differently."""
    try:
        return version("recuse")
    except PackageNotFoundError:  # run from its folder, without being installed
        return "source"


def _said(value: Any) -> Any:
    """Return a value as JSON, different for different values; what equality leaves out is not in it."""
    if is_dataclass(value):
        told = {field.name: _said(getattr(value, field.name)) for field in fields(value) if field.compare}
        return [type(value).__name__, told]
    if isinstance(value, tuple):
        return [_said(item) for item in value]
    return value if isinstance(value, str | int) or value is None else [type(value).__name__, str(value)]
