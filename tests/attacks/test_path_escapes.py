"""Path escapes: names in questions, policies and folders that lead out of it, or into other tables."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recuse.engines.collect import collect
from recuse.engines.duckdb import DuckDB
from recuse.engines.files import FileTable, file_tables
from recuse.errors import RecuseError
from recuse.krelation.relation import KRelation
from recuse.policy import Policy
from recuse.session.place import ledger_path
from recuse.session.session import connect

SECRET = "id,x\n" + "".join(f"{i},{i}\n" for i in range(1000, 1100))
PEOPLE = "id,x\n" + "".join(f"{i},{i}\n" for i in range(7))


def policy_for(table: str, role: str = "protect") -> Policy:
    """Return a policy that mentions one table under any name whatever."""
    name = table.replace("\\", "\\\\").replace('"', '\\"')
    key = 'key = ["id"]\n' if role == "protect" else ""
    other = '[[protect]]\nkind = "somebody"\n' if role == "public" else ""
    return Policy.parse(f'{other}[[{role}]]\ntable = "{name}"\n{key}[budget]\nepsilon = 9\n')


def relation(folder: Path, table: str, role: str = "protect") -> KRelation | None:
    """Return the rows that a question about a table would look at, or None if it is refused."""
    name = table.replace('"', '""')
    try:
        with connect(folder, policy_for(table, role)) as session:
            plan = session.compile(f'SELECT COUNT(*) FROM "{name}"')
            ((found,),) = collect(session.engine, plan)
    except RecuseError:
        return None
    return found


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.csv").write_text(SECRET)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "people.csv").write_text(PEOPLE)
    return tmp_path / "data"


ESCAPES = [
    "../outside/secret",
    "../outside/secret.csv",
    "{outside}/secret.csv",
    "file://{outside}/secret.csv",
    "file:{outside}/secret.csv",
    "people.csv",
    "./people",
    "*",
    "peopl?",
    "people'); SELECT 1; --",
    "read_csv('{outside}/secret.csv')",
    "/etc/passwd",
    "http://127.0.0.1:9/x.csv",
    "s3://bucket/x.parquet",
    "\\\\server\\share\\x.csv",
    "information_schema.tables",
    "duckdb_settings",
    "sqlite_master",
    "people\x00",
]


@pytest.mark.parametrize("name", ESCAPES)
def test_no_name_of_a_table_leads_anywhere_else(folder, name):
    """Public tables are asked exactly, so that they would be the worse leak."""
    assert relation(folder, name.format(outside=folder.parent / "outside"), "public") is None


def test_the_table_itself_is_found(folder):
    assert relation(folder, "people").true_answer() == 7


def careless_tables(folder: Path, policy: Policy | None) -> list[FileTable]:
    """A broken twin: a table of the policy is the file that its name leads to."""
    names = [rule.table for rule in (*policy.protect, *policy.public) if rule.table]
    paths = {name: folder / f"{name}.csv" for name in names}
    reading = "SELECT * FROM read_csv('{}')"
    followed = [FileTable(name, path, reading.format(path), None) for name, path in paths.items()]
    return [*file_tables(folder, policy), *followed]


def test_the_twin_that_follows_names_is_caught(folder, monkeypatch):
    monkeypatch.setattr("recuse.engines.duckdb.file_tables", careless_tables)
    assert relation(folder, "../outside/secret").true_answer() == 100


# ------------------------------------------------------------------ names of files

NAMES = [
    "a'b",
    'a"b',
    "a;b",
    "a--b",
    "a/*b*/",
    "a b",
    "a\nb",
    "é",
    "a$b",
    "{a,b}",
    "~",
    "%41",
    "x'); DROP VIEW people; --",
]
GLOBS = ["p*", "peopl?", "[p]eople", "people[", "**"]


def own_rows_only(folder: Path, name: str, suffix: str = "csv") -> bool:
    """Return whether a file of a strange name is read as itself: one row, and nothing of its neighbours."""
    if "/" in name:
        return True
    (folder / f"{name}.{suffix}").write_text("id,x\n77,77\n")
    found = relation(folder, name)
    return found is None or (found.true_answer(), list(found.names)) == (1, [(name, "77")])


@pytest.mark.parametrize("name", [*NAMES, *GLOBS])
def test_a_file_of_a_strange_name_is_read_as_itself(folder, name):
    assert own_rows_only(folder, name)
    assert relation(folder, "people").true_answer() == 7


def test_a_folder_of_a_strange_name_is_read_as_itself(tmp_path):
    for name in ("it's", 'a"b', "a;b", "é", "a b", "%20", "a#b"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "people.csv").write_text(PEOPLE)
        with connect(folder, policy_for("people")) as session:
            assert session.ask("SELECT COUNT(*) FROM people", 1).remaining == 8
        assert ledger_path(folder) == tmp_path / f"{name}.ledger"
        assert (tmp_path / f"{name}.ledger").exists()


# ------------------------------------------------------------------ links


def test_a_link_is_a_table_only_by_its_own_name(folder):
    """A link in the folder was put there by the custodian; the policy must name it before it can be asked."""
    (folder / "linked.csv").symlink_to(folder.parent / "outside" / "secret.csv")
    assert relation(folder, "secret") is None
    with connect(folder, policy_for("people")) as session, pytest.raises(RecuseError, match="linked"):
        session.compile("SELECT COUNT(*) FROM linked")


def test_one_database_has_one_ledger_however_it_is_named(folder, monkeypatch):
    link = folder.parent / "link"
    link.symlink_to(folder)
    monkeypatch.chdir(folder.parent)
    spellings = [folder, link, "data", "./data", "data/", "data/../data", "link/.", folder / ".." / "data"]
    assert {ledger_path(path) for path in spellings} == {folder.parent / "data.ledger"}
    for number, path in enumerate(spellings, start=1):
        with connect(path, policy_for("people")) as session:
            session.ask(f"SELECT COUNT(*) FROM people WHERE x <> '{number}'", 1)
            assert session.budget.spent == number


def test_only_the_files_of_the_folder_can_be_read_by_the_engine(folder):
    with DuckDB.open(folder, policy_for("people")) as engine:
        for path in (folder.parent / "outside" / "secret.csv", Path("/etc/passwd"), folder / "new.csv"):
            path = Path(os.path.relpath(path, folder)) if path.name == "new.csv" else path
            with pytest.raises(Exception, match=r"(?i)permission|disabled|cannot access"):
                engine.connection.sql(f"SELECT * FROM read_csv('{path}')").fetchall()
