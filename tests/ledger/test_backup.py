"""Copies: made while others charge; an old one put back is refused, or counts what was spent since."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from fractions import Fraction

import pytest

from recuse.errors import LedgerError
from recuse.ledger import Ledger, open_or_create, restore
from recuse.ledger.mark import Mark, mark_of
from recuse.privacy import Delta, Epsilon
from support.questions import question, spend

TEN = Epsilon.of(10)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "shop.ledger"


@pytest.fixture
def ledger(path):
    return open_or_create(path, TEN)[0]


def move_away(path):
    for file in path.parent.glob(f"{path.name}*"):
        if file != mark_of(path):
            file.unlink()


def test_a_copy_has_everything_and_is_its_owners_alone(ledger, path, tmp_path):
    ledger.store(ledger.charge(question(1, key="k")), "yes")
    copy = tmp_path / "copy"
    ledger.backup(copy, who="cy")
    assert copy.stat().st_mode & 0o777 == 0o600
    assert Ledger.open(copy).history() == ledger.history()
    assert [act.what for act in ledger.audit()] == ["backup"]
    with pytest.raises(LedgerError, match="cannot be written"):
        ledger.backup(copy)
    assert [file.name for file in tmp_path.iterdir() if ".new" in file.name] == []


def test_copies_add_up_while_another_thread_charges(path, tmp_path):
    ledger, _ = open_or_create(path, TEN)

    def charges():
        mine = Ledger.open(path)
        for _ in range(30):
            spend(mine, "1/100")
        mine.close()

    thread = threading.Thread(target=charges)
    thread.start()
    for number in range(3):
        ledger.backup(tmp_path / f"copy {number}")
    thread.join()
    spent = [Ledger.open(tmp_path / f"copy {number}").balance().spent for number in range(3)]
    assert spent == sorted(spent)
    assert ledger.balance().spent == Fraction(30, 100)


def test_a_mark_grows_as_the_ledger_does(ledger, path):
    assert ledger.mark() == Mark()
    spend(ledger, 1)
    first = ledger.mark()
    ledger.grant(TEN, "ada", Delta.of("1e-6"))
    spend(ledger, 2, "ada")
    assert ledger.mark(first) == ledger.mark()
    assert ledger.mark(most=1) == first
    assert ledger.mark().spent == {"": (1, 0), "ada": (2, 0)}
    ledger.mark().write(mark_of(path))
    assert Mark.read(mark_of(path)) == ledger.mark()


def test_an_old_copy_in_its_place_is_refused(ledger, path, tmp_path):
    spend(ledger, 1)
    ledger.backup(tmp_path / "old")
    spend(ledger, 2)
    ledger.mark().write(mark_of(path))
    assert Ledger.open(path).balance().spent == 3, "the ledger itself is not refused"
    ledger.close()
    move_away(path)
    (tmp_path / "old").rename(path)
    with pytest.raises(LedgerError, match="has forgotten charges"):
        Ledger.open(path)


def test_a_ledger_that_has_more_charges_than_its_mark_is_whole(ledger, path):
    spend(ledger, 1)
    ledger.mark().write(mark_of(path))
    spend(ledger, 1)
    assert Ledger.open(path).balance().spent == 2


def test_another_ledger_with_as_many_charges_is_refused(ledger, path, tmp_path):
    spend(ledger, 1)
    ledger.mark().write(mark_of(path))
    ledger.close()
    move_away(path)
    other, _ = open_or_create(path.with_name("other"), TEN)
    spend(other, 1)
    other.close()
    path.with_name("other").rename(path)
    with pytest.raises(LedgerError, match="has forgotten charges"):
        Ledger.open(path)


def test_a_restored_copy_counts_what_was_spent_since(ledger, path, tmp_path):
    ledger.grant(Epsilon.of(1), "ada")
    spend(ledger, "1/2", "ada")
    ledger.backup(tmp_path / "old")
    ledger.grant(Epsilon.of(5), "ada")
    spend(ledger, 3, "ada")
    ledger.grant(TEN, "bob", Delta.of("1e-6"))
    ledger.grant(TEN, None, Delta.of("1e-6"))
    spend(ledger, 2, "bob")
    ledger.mark().write(mark_of(path))
    before = ledger.balance()
    ledger.close()
    move_away(path)
    assert restore(tmp_path / "old", path) == 5
    again = Ledger.open(path)
    assert again.balance().spent == before.spent == Fraction(11, 2)
    (ada,) = again.analysts()
    assert (ada.balance.spent, ada.balance.remaining) == (Fraction(7, 2), 0), "bob is not known to the copy"
    assert [act.what for act in again.audit()][-1] == "restore"
    assert again.audit()[-1].detail == "5 was spent since the copy was made"
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_without_a_mark_a_copy_is_put_back_as_it_is(ledger, path, tmp_path):
    spend(ledger, 1)
    ledger.backup(tmp_path / "old")
    assert restore(tmp_path / "old", tmp_path / "new.ledger", tmp_path / "elsewhere") == 0
    assert Ledger.open(tmp_path / "new.ledger").balance().spent == 1
    assert Mark.read(tmp_path / "elsewhere").charges == 1


def test_nothing_is_written_over(ledger, path, tmp_path):
    ledger.backup(tmp_path / "copy")
    with pytest.raises(LedgerError, match="there is a ledger already"):
        restore(tmp_path / "copy", path)
    with pytest.raises(LedgerError, match="no copy here"):
        restore(tmp_path / "nothing", tmp_path / "new.ledger")
    (tmp_path / "text").write_text("no ledger at all, but long enough to be looked at as one" * 20)
    with pytest.raises(LedgerError):
        restore(tmp_path / "text", tmp_path / "new.ledger")
    assert not list(tmp_path.glob("new.ledger*"))


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"charges": 1, "digest": "", "spent": {"a": ["1/0", "0"]}}']
)
def test_a_mark_that_cannot_be_read_is_no_mark_of_nothing(ledger, path, text):
    mark_of(path).write_text(text)
    with pytest.raises(LedgerError, match="mark cannot be read"):
        Ledger.open(path)


def test_a_mark_that_cannot_be_written_is_said(tmp_path):
    with pytest.raises(LedgerError, match="mark cannot be written"):
        Mark().write(tmp_path / "no folder" / "mark")
