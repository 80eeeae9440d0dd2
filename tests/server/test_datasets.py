"""One server, two datasets: each has its own people, ledger and workers, and nobody crosses over."""

from __future__ import annotations

import signal

import httpx
import psycopg
import pytest

from recuse.ledger import Role, open_or_create
from recuse.privacy import Epsilon
from support.serving import COUNT, Serving, free_port, make_school, waited

NAMES = {"school": 40, "other": 400}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    datasets = ""
    for name, pupils in NAMES.items():
        (folder / name).mkdir()
        make_school(folder / name, pupils=pupils)
        datasets += f'[[dataset]]\nname = "{name}"\ndatabase = "{name}/school.duckdb"\n'
        datasets += f'policy = "{name}/school.toml"\n'
    ports = {door: free_port() for door in ("http", "postgres", "metrics")}
    doors = "".join(f'[{door}]\nlisten = "127.0.0.1:{port}"\n' for door, port in ports.items())
    made = Serving(folder, f"{datasets}[answers]\nslot = 0.2\nworkers = 1\n{doors}", ports).start()
    yield made
    made.kill(signal.SIGTERM)


@pytest.fixture(scope="module")
def tokens(server):
    """The tokens of ada, whom both custodians know."""
    found = {}
    for name in NAMES:
        ledger, _ = open_or_create(server.folder / name / "school.duckdb.ledger", Epsilon.of(1000))
        ledger.grant(Epsilon.of(10), "ada")
        found[name] = ledger.tokens().create("ada", Role.ANALYST)[1]
        ledger.close()
    return found


def test_a_token_says_which_dataset_is_asked(server, tokens):
    for name, pupils in NAMES.items():
        with server.http(tokens[name]) as ada:
            assert ada.get("/me").json()["dataset"] == name
            found = waited(ada, COUNT, "5")
            assert abs(found["answer"]["rows"][0][0] - pupils) < 40
            assert ada.get("/budget").json()["spent"] == "5", "each ledger has its own charge, and no other"


def test_a_database_of_postgresql_is_a_dataset_and_needs_its_own_token(server, tokens):
    def connected(name, token):
        place = f"host=127.0.0.1 port={server.ports['postgres']} user=ada dbname={name}"
        return psycopg.connect(place, password=token, autocommit=True, options="-c recuse.epsilon=5")

    for name, pupils in NAMES.items():
        with connected(name, tokens[name]) as ada:
            (found,) = ada.execute(COUNT).fetchone()
            assert abs(found - pupils) < 40
        (other,) = NAMES.keys() - {name}
        with pytest.raises(psycopg.OperationalError, match="not known"):
            connected(name, tokens[other])


def test_a_question_of_one_is_no_answer_of_another(server, tokens):
    with server.http(tokens["school"]) as ada:
        job = ada.post("/questions", json={"sql": COUNT, "epsilon": "1/9"}).json()["id"]
    with server.http(tokens["other"]) as ada:
        assert ada.get(f"/questions/{job}").status_code == 404
        assert all(charge["epsilon"] != "1/9" for charge in ada.get("/history").json())


def test_both_are_counted(server, tokens):
    found = httpx.get(f"http://127.0.0.1:{server.ports['metrics']}/metrics").text
    assert all(f'recuse_epsilon_left{{dataset="{name}"}}' in found for name in NAMES)
