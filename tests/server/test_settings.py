"""What a server is told: a door that others could listen at, or a key that others can read, is not opened."""

from __future__ import annotations

import tomllib

import pytest

from recuse.errors import ParameterError
from recuse.server.settings import Listen, Settings
from support.documents import ROOT, blocks

DATASET = {"name": "school", "database": "school", "policy": "school.toml"}


def settings(tmp_path, **more):
    return Settings.of({"dataset": [DATASET], "http": {"listen": "127.0.0.1:1"}} | more, tmp_path)


def test_paths_are_as_seen_from_the_file(tmp_path):
    (tmp_path / "serve.toml").write_text(
        '[[dataset]]\nname = "a"\ndatabase = "data"\npolicy = "p.toml"\nledger = "/x/y"\n'
        '[[dataset]]\nname = "b"\ndatabase = "postgresql://host/db"\npolicy = "p.toml"\n'
        '[http]\nlisten = "localhost:80"\n[answers]\nslot = 2\n'
    )
    found = Settings.read(tmp_path / "serve.toml")
    assert [dataset.database for dataset in found.datasets] == [
        str(tmp_path / "data"),
        "postgresql://host/db",
    ]
    assert (found.datasets[0].ledger, found.answers.slot, found.answers.deadline) == ("/x/y", 2, 60)
    assert found.postgres is None


@pytest.mark.parametrize("listen", ["127.0.0.1:80", "localhost:80", "[::1]:80"])
def test_this_machine_needs_no_certificate(listen):
    assert Listen(listen).is_loopback


@pytest.mark.parametrize("listen", ["0.0.0.0:80", "10.0.0.1:80", "[::]:80", "example.org:80"])
@pytest.mark.parametrize("door", ["http", "postgres", "metrics"])
def test_others_need_one(tmp_path, listen, door):
    with pytest.raises(ParameterError, match="others could listen"):
        settings(tmp_path, **{door: {"listen": listen}})
    key = tmp_path / "key"
    key.write_text("")
    with pytest.raises(ParameterError, match="named together"):
        settings(tmp_path, **{door: {"listen": listen, "key": "key"}})
    key.chmod(0o600)
    assert settings(tmp_path, **{door: {"listen": listen, "key": "key", "certificate": "c"}})
    for mode in (0o644, 0o640, 0o604):
        key.chmod(mode)
        with pytest.raises(ParameterError, match="others can read this key"):
            settings(tmp_path, **{door: {"listen": listen, "key": "key", "certificate": "c"}})


@pytest.mark.parametrize(
    "wrong",
    [
        {"dataset": []},
        {"dataset": [DATASET, DATASET]},
        {"dataset": [{"name": "x"}]},
        {"dataset": [DATASET | {"extra": "x"}]},
        {"dataset": ["x"]},
        {"nonsense": {}},
        {"answers": {"slot": 0}},
        {"answers": {"slot": "1"}},
        {"answers": {"deadline": 0}},
        {"answers": {"workers": 0}},
        {"answers": {"workers": True}},
        {"answers": {"memory": "1GB"}},
        {"http": {"listen": "nowhere"}},
        {"http": {"listen": "127.0.0.1:99999"}},
        {"http": {"listen": 80}},
        {"http": {"listen": "0.0.0.0:1", "certificate": "c", "key": "absent"}},
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path, wrong):
    with pytest.raises(ParameterError):
        settings(tmp_path, **wrong)


def test_a_server_needs_a_door_and_a_file_that_can_be_read(tmp_path):
    with pytest.raises(ParameterError, match="needs a door"):
        Settings.of({"dataset": [DATASET]}, tmp_path)
    with pytest.raises(ParameterError, match="cannot read"):
        Settings.read(tmp_path / "absent")
    (tmp_path / "bad").write_text("[")
    with pytest.raises(ParameterError, match="no TOML"):
        Settings.read(tmp_path / "bad")


def test_the_settings_that_the_guide_shows_are_some(tmp_path):
    page = (ROOT / "docs" / "how-to" / "serve-analysts.md").read_text()
    shown = [block.text for block in blocks(page, "text") if "[[dataset]]" in block.text]
    (found,) = [Settings.of(tomllib.loads(text), tmp_path) for text in shown]
    assert found.postgres.is_loopback
