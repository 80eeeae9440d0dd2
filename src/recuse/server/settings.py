"""What a server is told: which datasets, where it listens, how answers leave. From `serve.toml`.

[[dataset]]                 one or more; PostgreSQL clients see a database of that name
name = "school"
database = "school"         a file, a folder, or the address of a server's database
policy = "school.toml"
ledger = "school.ledger"    beside the data unless named
mark = "/elsewhere/mark"    the high-water mark; beside the ledger unless named
rows = { pupil = 500 }      what you state of your tables, for everybody to see: errors are estimated from it
largest = { friendship = 30 }    the most rows of a table that link to one row, likewise

[answers]
slot = 10.0                 seconds: answers leave at multiples of it after the charge
deadline = 60               slots, after which a question is unanswered
workers = 2                 questions of one dataset that are looked at at once
memory = 4000000000         bytes a worker may use
queue = 32                  questions of one dataset that may wait

[http]                      [postgres] and [metrics] likewise; one that is not named is not opened
listen = "127.0.0.1:8443"
certificate = "server.pem"  certificate and key: needed wherever others than this machine may connect
key = "server.key"          readable by its owner alone
"""

from __future__ import annotations

import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from recuse.engines.open import is_address
from recuse.errors import ParameterError
from recuse.session.statistics import Statistics

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

LOOPBACK = "localhost"
T = TypeVar("T", bound="DataclassInstance")


@dataclass(frozen=True, slots=True)
class ServedDataset:
    """A database with its policy and its ledger."""

    name: str
    """how analysts call it"""
    database: str
    policy: str
    rows: Mapping[str, int] = field(default_factory=dict)
    largest: Mapping[str, int] = field(default_factory=dict)
    ledger: str | None = None
    mark: str | None = None
    """the file that remembers how far the ledger had come"""

    def __post_init__(self) -> None:
        Statistics(self.rows, self.largest)


@dataclass(frozen=True, slots=True)
class Answers:
    """How answers are made and leave."""

    slot: float = 10.0
    deadline: int = 60
    workers: int = 2
    memory: int | None = None
    queue: int = 32

    def __post_init__(self) -> None:
        if not (0 < self.slot <= 3600 and 1 <= self.deadline <= 10_000):
            raise ParameterError("slots are of up to an hour, and a deadline is 1 to 10,000 of them")
        if not (1 <= self.workers <= 64 and 0 <= self.queue <= 10_000):
            raise ParameterError("there are 1 to 64 workers, and up to 10,000 questions wait")


@dataclass(frozen=True, slots=True)
class Listen:
    """Where a door is, and what it proves itself with."""

    listen: str
    certificate: str | None = None
    key: str | None = None

    def __post_init__(self) -> None:
        self.address()
        if (self.certificate is None) != (self.key is None):
            raise ParameterError("a certificate and its key are named together", found=self.listen)
        if self.key is None and not self.is_loopback:
            raise ParameterError(
                "others could listen to what is said to this door",
                found=self.listen,
                accepted="a certificate and a key, or an address of this machine alone: 127.0.0.1",
            )
        if self.key is not None:
            refuse_readable(Path(self.key))

    def address(self) -> tuple[str, int]:
        """Return host and port."""
        host, _, port = self.listen.rpartition(":")
        if not host or not port.isdigit() or int(port) > 65535:
            raise ParameterError("this is no place to listen at", found=self.listen, accepted="HOST:PORT")
        return host.strip("[]"), int(port)

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        host, _ = self.address()
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return host == LOOPBACK


@dataclass(frozen=True, slots=True)
class Settings:
    """All that a server is told."""

    datasets: tuple[ServedDataset, ...]
    answers: Answers = Answers()
    http: Listen | None = None
    postgres: Listen | None = None
    metrics: Listen | None = None

    def __post_init__(self) -> None:
        names = [dataset.name for dataset in self.datasets]
        if not names or len(set(names)) < len(names):
            raise ParameterError("a server has one or more datasets, each with a name of its own")
        if self.http is None and self.postgres is None:
            raise ParameterError("a server needs a door", accepted="[http], [postgres], or both")

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return what a file says; paths in it are as seen from it."""
        try:
            found = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise ParameterError(f"cannot read {path}", found=error.strerror) from None
        except ValueError as error:
            raise ParameterError(f"{path} is no TOML", found=str(error)) from None
        return cls.of(found, path.parent)

    @classmethod
    def of(cls, found: Mapping[str, Any], folder: Path) -> Self:
        """Return what a table says."""
        unknown = set(found) - {"dataset", "answers", "http", "postgres", "metrics"}
        if unknown:
            raise ParameterError("a section of the settings is not known", found=", ".join(sorted(unknown)))
        doors = {
            name: None if name not in found else _made(Listen, found[name], name, folder)
            for name in ("http", "postgres", "metrics")
        }
        return cls(
            tuple(_made(ServedDataset, one, "dataset", folder) for one in found.get("dataset", [])),
            _made(Answers, found.get("answers", {}), "answers", folder),
            **doors,
        )


PATHS = ("database", "policy", "ledger", "mark", "certificate", "key")
KINDS: dict[str, tuple[type, ...]] = {
    "slot": (int, float),
    **dict.fromkeys(("deadline", "workers", "memory", "queue"), (int,)),
    **dict.fromkeys(("rows", "largest"), (dict,)),
}


def _made(kind: type[T], found: Any, section: str, folder: Path) -> T:
    if not isinstance(found, dict):
        raise ParameterError(f"[{section}] is a table", found=str(found))
    known = {field.name for field in fields(kind)}
    if unknown := set(found) - known:
        raise ParameterError(
            f"[{section}] does not know this",
            found=", ".join(sorted(unknown)),
            accepted=", ".join(sorted(known)),
        )
    for name, value in found.items():
        numbers = value.values() if isinstance(value, dict) else ()
        is_number = all(type(number) is int for number in numbers)
        if isinstance(value, bool) or not isinstance(value, KINDS.get(name, (str,))) or not is_number:
            raise ParameterError(f"{name} in [{section}] is of another type", found=repr(value))
    placed = {
        name: str(folder / value) if name in PATHS and not is_address(value) else value
        for name, value in found.items()
    }
    try:
        return kind(**placed)
    except TypeError:
        raise ParameterError(f"[{section}] says too little", accepted=", ".join(sorted(known))) from None


def refuse_readable(path: Path) -> None:
    """Refuse a key that others than its owner can read."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise ParameterError("the key cannot be read", found=f"{error.strerror}: {path}") from None
    if stat.S_IMODE(mode) & 0o077:
        raise ParameterError(
            "others can read this key", found=f"{stat.S_IMODE(mode):o} {path}", hint=f"chmod 600 {path}"
        )
