"""What a database of our own may use of the machine, and which optimisers it does without."""

from __future__ import annotations

import stat
from contextlib import nullcontext
from pathlib import Path

import duckdb
import pyarrow
import pytest

from recuse.engines.duckdb import DuckDB
from recuse.engines.settings import WITHOUT, fresh
from recuse.errors import DatabaseError
from recuse.policy import EngineLimits, Policy
from recuse.session.fingerprint import policy_hash

PROTECT = '[[protect]]\ntable = "t"\nkey = ["id"]\n'
LARGE = (
    "SELECT count(*) AS n FROM (SELECT repeat(md5(CAST(i AS VARCHAR)), 32) AS s, count(*) AS c "
    "FROM range(300000) r(i) GROUP BY 1) WHERE c > 0"
)
"""A GROUP BY of some 300 MB."""
FRAME = {"t": pyarrow.table({"id": [1]})}


def sources(folder: Path) -> list[object]:
    """Return every kind of source that we open: a file, a folder, frames."""
    with duckdb.connect(str(folder / "x.db")) as made:
        made.execute("CREATE TABLE t (id INTEGER)")
    (folder / "folder").mkdir()
    (folder / "folder" / "t.csv").write_text("id\n1\n")
    return [folder / "x.db", folder / "folder", FRAME]


def setting(engine: DuckDB, name: str) -> object:
    return engine.connection.sql(f"SELECT current_setting('{name}')").fetchall()[0][0]


def test_the_policy_limits_every_source_that_we_open(tmp_path):
    (tmp_path / "space").mkdir()
    policy = Policy.parse(
        f'{PROTECT}[engine]\nmemory = "1GiB"\nthreads = 1\n'
        f'temp = "{tmp_path / "space"}"\ntemp_limit = "2 GiB"'
    )
    assert policy.engine == EngineLimits(2**30, 1, str(tmp_path / "space"), 2**31)
    for source in sources(tmp_path):
        with DuckDB.open(source, policy) as engine:
            assert setting(engine, "memory_limit") == "1.0 GiB"
            assert setting(engine, "threads") == 1
            assert setting(engine, "max_temp_directory_size") == "2.0 GiB"
            place = Path(str(setting(engine, "temp_directory")))
            assert place.parent == (tmp_path / "space").resolve()
            assert stat.S_IMODE(place.stat().st_mode) == 0o700
        assert not place.exists(), "temporary files are removed"


def test_limits_change_no_question():
    """Answers that are stored under one limit are given under another."""
    plain, limited = Policy.parse(PROTECT), Policy.parse(f'{PROTECT}[engine]\nmemory = "1GB"')
    assert plain == limited
    assert policy_hash(plain) == policy_hash(limited)


def test_what_does_not_fit_into_memory_spills():
    policy = Policy.parse(f'{PROTECT}[engine]\nmemory = "200MB"\nthreads = 2')
    with DuckDB.open(FRAME, policy) as engine:
        assert engine.run([LARGE])[0]["n"].to_pylist() == [300_000]


def test_temporary_space_is_limited():
    policy = Policy.parse(f'{PROTECT}[engine]\nmemory = "200MB"\nthreads = 2\ntemp_limit = "2MB"')
    with DuckDB.open(FRAME, policy) as engine, pytest.raises(DatabaseError, match="could not run"):
        engine.run([LARGE])


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    policy = Policy.parse(f'{PROTECT}[engine]\ntemp = "{tmp_path / "nowhere"}"')
    with pytest.raises(DatabaseError, match="no place for temporary files") as error:
        DuckDB.open(FRAME, policy)
    assert error.value.hint


def test_temporary_files_go_even_if_nobody_closes():
    place = fresh(EngineLimits()).spilled.path
    assert not place.exists()


def test_two_optimisers_are_off_where_we_open(tmp_path):
    with duckdb.connect() as known:
        names = {name for (name,) in known.execute("SELECT name FROM duckdb_optimizers()").fetchall()}
    for source in sources(tmp_path):
        with DuckDB.open(source) as engine:
            off = str(setting(engine, "disabled_optimizers")).split(",")
            assert set(off) == set(WITHOUT) & names
            assert "common_subexpressions" in off
            with pytest.raises(DatabaseError):  # tried twice, and then they are off again
                engine.run(["SELECT error('no plan helps')"])
            assert str(setting(engine, "disabled_optimizers")).split(",") == off
            for statement in ("SET threads = 1", "SET allowed_configs = ['threads']"):
                with pytest.raises(duckdb.Error):
                    engine.connection.execute(statement)


def test_a_connection_that_was_handed_over_keeps_its_own(tmp_path):
    with duckdb.connect() as made:
        made.execute("CREATE TABLE t (id INTEGER); SET threads = 1")
        with DuckDB.open(made, Policy.parse(f"{PROTECT}[engine]\nthreads = 2")) as engine:
            assert setting(engine, "threads") == 1
            assert setting(engine, "disabled_optimizers") == ""


def test_a_connection_gets_its_optimisers_back():
    with duckdb.connect() as made:
        made.execute("SET disabled_optimizers = 'in_clause'; CREATE TABLE t AS SELECT 1 AS i")
        with DuckDB.open(made) as engine:
            (found,) = engine.run(["SELECT i FROM memory.main.t WHERE CASE WHEN i > 90 THEN 'x' END = 'b'"])
            assert found.num_rows == 0
            with pytest.raises(DatabaseError):
                engine.run(["SELECT error('no plan helps')"])
            assert setting(engine, "disabled_optimizers") == "in_clause"


def test_a_locked_connection_is_refused_unless_it_plans_from_the_text_alone():
    for off in ("", "statistics_propagation"):
        with duckdb.connect() as made:
            made.execute(f"SET disabled_optimizers = '{off}'; SET lock_configuration = true")
            with nullcontext() if off else pytest.raises(DatabaseError, match="configuration is locked"):
                DuckDB.open(made).close()


@pytest.mark.parametrize(
    "limits", [{"memory": 1000}, {"threads": 0}, {"threads": 5000}, {"temp_limit": -1}], ids=str
)
def test_limits_are_checked_in_python_too(limits):
    with pytest.raises(DatabaseError.__mro__[1]):
        EngineLimits(**limits)
