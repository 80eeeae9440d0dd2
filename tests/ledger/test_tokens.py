"""Tokens open what they are for, are kept as hashes, and are worth nothing once revoked or expired."""

from __future__ import annotations

import sqlite3
import time
from base64 import b64decode
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from recuse.errors import AnalystError, ParameterError
from recuse.ledger import Role, open_or_create
from recuse.ledger.scram import Verifier, salt_of
from recuse.privacy import Epsilon

ONE = Epsilon.of(1)


@pytest.fixture
def ledger(tmp_path):
    made, _ = open_or_create(tmp_path / "shop.ledger", ONE)
    made.grant(ONE, "ada", who="cy")
    return made


def test_a_token_has_256_bits_and_opens_what_it_is_for(ledger):
    token, text = ledger.tokens().create("ada", Role.ANALYST, "dashboard")
    _, _, secret = text.split("_")
    assert len(bytes.fromhex(secret)) == 32
    found = ledger.tokens().holder(text)
    assert (found, found.name, found.role, found.purpose) == (token, "ada", Role.ANALYST, "dashboard")
    assert ledger.tokens().create("ada", Role.ANALYST)[1] != text


@pytest.mark.parametrize(
    "change", [str.upper, lambda t: t[:-1], lambda t: t + "0", lambda t: "", lambda t: "rcs_x"]
)
def test_another_text_opens_nothing(ledger, change):
    _, text = ledger.tokens().create("ada", Role.ANALYST)
    assert ledger.tokens().holder(change(text)) is None


def test_the_file_does_not_hold_it(ledger, tmp_path):
    _, text = ledger.tokens().create("ada", Role.ANALYST)
    ledger.close()
    secret = text.rpartition("_")[2]
    for path in tmp_path.iterdir():
        assert secret.encode() not in path.read_bytes()
        assert bytes.fromhex(secret) not in path.read_bytes()


def test_revoked_it_opens_nothing_at_once_and_for_everybody(ledger, tmp_path):
    tokens = ledger.tokens()
    token, text = tokens.create("ada", Role.ANALYST)
    other, kept = tokens.create("ada", Role.ANALYST)
    elsewhere, _ = open_or_create(tmp_path / "shop.ledger", ONE)
    revoked = elsewhere.tokens().revoke(token.id, who="cy")
    assert revoked.revoked is not None
    assert (tokens.holder(text), tokens.live(token.id)) == (None, None)
    assert [found.id for found, _ in tokens.verifiers("ada")] == [other.id]
    assert tokens.holder(kept) == other
    assert elsewhere.tokens().revoke(token.id).revoked == revoked.revoked, "the first time counts"
    with pytest.raises(ParameterError, match="no such token"):
        tokens.revoke("nothing")


def test_it_expires(ledger):
    tokens = ledger.tokens()
    token, text = tokens.create("ada", Role.ANALYST, expires=datetime.now(UTC) + timedelta(hours=1))
    assert tokens.holder(text) == token
    assert not token.is_live(datetime.now(UTC) + timedelta(hours=2))
    tokens.connection.execute("UPDATE token SET expires = '2026-01-01T00:00:00+00:00'")
    assert tokens.holder(text) is None
    assert tokens.verifiers("ada") == []
    for past in (datetime.now(UTC), datetime.now() + timedelta(hours=1)):
        with pytest.raises(ParameterError, match="expires in the future"):
            tokens.create("ada", Role.ANALYST, expires=past)


def test_an_analyst_must_be_named_and_a_custodian_need_not(ledger):
    with pytest.raises(AnalystError):
        ledger.tokens().create("bob", Role.ANALYST)
    assert ledger.tokens().create("bob", Role.CUSTODIAN)[0].role is Role.CUSTODIAN
    with pytest.raises(ParameterError, match="no purpose"):
        ledger.tokens().create("ada", Role.ANALYST, "x\n")
    assert len(ledger.tokens().all()) == 1


def test_when_it_was_used_is_known(ledger):
    token, _ = ledger.tokens().create("ada", Role.ANALYST)
    assert token.last_used is None
    ledger.tokens().used(token.id)
    assert ledger.tokens().all()[0].last_used is not None


def test_what_a_custodian_does_is_written_down_and_stays(ledger):
    token, text = ledger.tokens().create("ada", Role.ANALYST, who="cy")
    ledger.tokens().revoke(token.id, who="cy")
    ledger.publish(who="cy")
    acts = ledger.audit()
    assert [(act.who, act.what) for act in acts] == [
        ("cy", "grant"), ("cy", "create token"), ("cy", "revoke token"), ("cy", "publish"),
    ]  # fmt: skip
    assert acts[0].detail == "analyst ada, epsilon 1, version 1"
    assert [decision.who for decision in ledger.decisions()] == [None, "cy", "cy"]
    assert text.rpartition("_")[2] not in str(acts)
    for change in ("UPDATE audit SET who = 'eve'", "DELETE FROM audit"):
        with pytest.raises(sqlite3.IntegrityError, match="the audit is not"):
            ledger.tokens().connection.execute(change)
    assert ledger.audit() == acts


def test_the_verifier_is_that_of_the_standard():
    """RFC 7677, section 3: the exchange of user and pencil."""
    verifier = Verifier.salted("pencil", b64decode("W22ZaJ0SNY7soEsUEjb6gQ=="), 4096)
    first = "n=user,r=rOprNGfwEbeRWgbNEkqO"
    challenge = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    final = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    messages = f"{first},{challenge},{final}".encode()
    proof = b64decode("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
    assert verifier.accepts(proof, messages)
    assert verifier.signature(messages) == b64decode("6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")
    assert not verifier.accepts(proof, messages + b" ")
    assert not verifier.accepts(proof[:-1], messages)
    assert Verifier.parse(str(verifier)) == verifier


def test_a_names_salt_is_the_same_whether_anybody_has_it(ledger):
    _, text = ledger.tokens().create("ada", Role.ANALYST)
    assert salt_of("ada") == salt_of("ada") != salt_of("nobody")
    ((_, verifier),) = ledger.tokens().verifiers("ada")
    assert verifier == Verifier.of("ada", text)
    assert Path(ledger.path).exists()


def test_an_id_that_is_there_takes_no_other_time_than_one_that_is_not(ledger):
    """Both fail; shuffled labels tell them apart as well as the labels do."""
    token, text = ledger.tokens().create("cy", Role.CUSTODIAN)
    wrong = {1: text[:-6] + "000000", 0: text.replace(token.id, "0" * len(token.id))}
    labels, times = np.array([0, 1] * 200), []
    np.random.default_rng(3).shuffle(labels)
    for label in labels:
        began = time.perf_counter()
        assert ledger.tokens().holder(wrong[label]) is None
        times.append(time.perf_counter() - began)

    def difference(split):
        return abs(np.median(measured[split == 1]) - np.median(measured[split == 0]))

    measured = np.array(times)
    shuffled = [difference(np.random.default_rng(seed).permutation(labels)) for seed in range(300)]
    assert difference(labels) <= max(*shuffled, 0.00005)
