"""Refusals as JSON and back: the class, the code, the words and the place survive; a failure has no words."""

from __future__ import annotations

import json

import pytest

from recuse import errors
from recuse.refusal import KINDS, error_of, said

PLACED = {"query": {"line": 2, "column": 7}, "policy": {"line": 3}}


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.__name__)
def test_a_refusal_is_the_same_on_the_other_side(kind):
    made = kind("a problem", found="this", accepted="those", hint="that", **PLACED.get(kind.code, {}))
    again = error_of(json.loads(json.dumps(said(made))))
    assert (type(again), again.code, str(again)) == (kind, kind.code, str(made))


def test_every_refusal_of_the_library_can_be_said():
    assert {"database.layout", "budget", "query"} < set(KINDS)
    assert errors.UnansweredError.code not in KINDS


def test_a_failure_after_the_charge_says_nothing():
    told = said(errors.UnansweredError()) | {"problem": "a row", "found": "a value", "hint": "a name"}
    assert str(error_of(told)) == str(errors.UnansweredError())


def test_what_only_a_server_refuses_is_a_refusal():
    again = error_of({"code": "busy", "problem": "one question at a time", "hint": "wait"})
    assert (again.code, str(again)) == ("busy", "one question at a time; hint: wait")
    assert errors.RecuseError.code != "busy"
