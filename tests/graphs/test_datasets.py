"""Public graphs are brought from their home, out of archives too, whole or not at all."""

from __future__ import annotations

import io
import tarfile
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from recuse.errors import DatabaseError
from recuse.graphs.datasets import DATASETS, Dataset, fetch, located

CONTENT = b"1 2\n2 3\n"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture
def home(tmp_path):
    """Serve an edge list, plain and in two archives, on this machine."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "g.txt").write_bytes(CONTENT)
    with zipfile.ZipFile(folder / "g.zip", "w") as archive:
        archive.writestr("in/g.txt", CONTENT)
    with tarfile.open(folder / "g.tar.gz", "w:gz") as archive:
        entry = tarfile.TarInfo("g/g.txt")
        entry.size = len(CONTENT)
        archive.addfile(entry, io.BytesIO(CONTENT))
    (folder / "broken.zip").write_bytes(b"no archive")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(
    ("file", "member"), [("g.txt", None), ("g.zip", "in/g.txt"), ("g.tar.gz", "g/g.txt")]
)
def test_a_graph_is_brought(home, tmp_path, file, member):
    fetch(Dataset(f"{home}/{file}", "g.txt", "", member), tmp_path / "kept" / "g.txt")
    assert (tmp_path / "kept" / "g.txt").read_bytes() == CONTENT
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["g.txt"]


@pytest.mark.parametrize(
    ("file", "member"), [("none.txt", None), ("broken.zip", "g.txt"), ("g.zip", "other"), ("g.tar.gz", "no")]
)
def test_what_cannot_be_brought_is_one_line(home, tmp_path, file, member):
    with pytest.raises(DatabaseError, match="could not be fetched") as caught:
        fetch(Dataset(f"{home}/{file}", "g.txt", "", member), tmp_path / "kept" / "g.txt")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "kept").exists()


def test_nobody_at_home(home, tmp_path):
    with pytest.raises(DatabaseError, match="could not be fetched"):
        fetch(Dataset("http://127.0.0.1:1/g.txt", "g.txt", ""), tmp_path / "g.txt")


def test_a_file_of_that_name_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "karate").write_bytes(CONTENT)
    assert located("karate").read_bytes() == CONTENT
    assert located("elsewhere.txt").name == "elsewhere.txt"


def test_every_home_is_on_the_web():
    for dataset in DATASETS.values():
        assert dataset.home.startswith("https://")
        assert (dataset.member is None) is dataset.home.endswith(".txt.gz")
