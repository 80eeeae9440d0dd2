"""Public graphs by name: where they live, and how a missing one is fetched from its home."""

from __future__ import annotations

import os
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from urllib.error import HTTPError, URLError
from zipfile import BadZipFile, ZipFile

from recuse.deferred import web
from recuse.errors import DatabaseError


@dataclass(frozen=True, slots=True)
class Dataset:
    """A public graph: its address, the file it is kept as, and what it is."""

    home: str
    """where it can be had"""
    file: str
    about: str
    member: str | None = None
    """the file's name inside an archive"""


PATIENCE = 30.0
"""seconds before a home that does not answer is given up"""


SNAP = "https://snap.stanford.edu/data"
NEWMAN = "https://websites.umich.edu/~mejn/netdata"
SUITE_SPARSE = "https://sparse.tamu.edu/MM/HB"

DATASETS: Mapping[str, Dataset] = {
    "netscience": Dataset(
        f"{NEWMAN}/netscience.zip", "netscience.gml", "co-authors of network science", "netscience.gml"
    ),
    "power": Dataset(f"{NEWMAN}/power.zip", "power.gml", "a power grid of the western US", "power.gml"),
    "karate": Dataset(f"{NEWMAN}/karate.zip", "karate.gml", "friends in a karate club", "karate.gml"),
    **{
        name: Dataset(f"{SUITE_SPARSE}/{name}.tar.gz", f"{name}.mtx", about, f"{name}/{name}.mtx")
        for name, about in {
            "1138_bus": "a power system",
            "bcspwr10": "the eastern US power network",
            "gemat12": "optimal power flow",
        }.items()
    },
    **{
        name: Dataset(f"{SNAP}/{file}", f"{name}.txt.gz", about)
        for name, file, about in (
            ("ca-GrQc", "ca-GrQc.txt.gz", "co-authors of general relativity"),
            ("ca-HepTh", "ca-HepTh.txt.gz", "co-authors of high energy physics theory"),
            ("ca-AstroPh", "ca-AstroPh.txt.gz", "co-authors of astrophysics"),
            ("email-Enron", "email-Enron.txt.gz", "e-mail between addresses"),
            ("ego-Facebook", "facebook_combined.txt.gz", "friends of ten Facebook users"),
        )
    },
    "deezer-europe": Dataset(
        f"{SNAP}/deezer_europe.zip",
        "deezer-europe.csv",
        "friends on Deezer",
        "deezer_europe/deezer_europe_edges.csv",
    ),
}


def located(name: str, homes: Mapping[str, Dataset] = DATASETS) -> Path:
    """Return the file of a name: a path as it is, or a public graph, fetched if it is not there yet."""
    path = Path(name)
    if path.exists() or name not in homes:
        return path
    kept = kept_in() / homes[name].file
    if not kept.exists():
        fetch(homes[name], kept)
    return kept


def kept_in() -> Path:
    """Return the folder where fetched graphs are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "recuse" / "graphs"


def fetch(dataset: Dataset, to: Path) -> None:
    """Bring a graph from its home; the file appears whole or not at all."""
    try:
        with web.urlopen(dataset.home, timeout=PATIENCE) as answer:
            content: bytes = answer.read()
        if dataset.member is not None:
            content = _member(content, dataset)
        to.parent.mkdir(parents=True, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(dir=to.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(draft, to)
    except (URLError, OSError, KeyError, BadZipFile, tarfile.TarError) as error:
        if isinstance(error, HTTPError):
            error.close()
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or type(error).__name__
        raise DatabaseError(
            "the graph is not here and could not be fetched",
            found=f"{dataset.home}: {reason}",
            hint=f"bring it yourself and name the file, or put it at {to}",
        ) from None


def _member(content: bytes, dataset: Dataset) -> bytes:
    """Return one file of an archive."""
    if dataset.home.endswith(".zip"):
        with ZipFile(BytesIO(content)) as archive:
            return archive.read(dataset.member or "")
    with tarfile.open(fileobj=BytesIO(content)) as archive:
        found = archive.extractfile(dataset.member or "")
        if found is None:
            raise KeyError(dataset.member)
        return found.read()
