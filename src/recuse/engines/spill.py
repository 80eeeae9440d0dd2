"""The folder into which an engine spills private rows: held while its process lives, swept away after a kill.

A folder is held by a lock on a file in it, which an operating system gives up when the process is gone,
however it ended. Whoever gets the lock may delete the folder. Process numbers would not do: containers that
share a folder have their own.
"""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from recuse.deferred import fcntl
from recuse.errors import DatabaseError

PREFIX = "recuse-"
HELD = "held"
"""the file that is locked; a folder without one is not ours to delete"""
BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True, eq=False)
class SpillFolder:
    """A folder that only its owner can read, and the locked file that holds it; None where none can be."""

    path: Path
    lock: IO[bytes] | None

    def remove(self) -> None:
        """Remove the folder with all that was spilled; a second time does nothing."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self.lock is not None:
            self.lock.close()


def spill_folder(within: str | None) -> SpillFolder:
    """Return a new folder, and sweep away those beside it whose processes were killed."""
    try:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=within)).resolve()
    except OSError:
        raise DatabaseError(
            "there is no place for temporary files",
            found=within or tempfile.gettempdir(),
            hint='name a folder that can be written: [engine], temp = "folder"',
        ) from None
    _sweep_once(path.parent)
    return SpillFolder(path, _held(path))


def sweep(parent: Path) -> None:
    """Remove the folders beside ours that nobody holds any more."""
    with suppress(OSError, ModuleNotFoundError), os.scandir(parent) as found:
        for entry in found:
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    _sweep_one(Path(entry.path))


def _sweep_one(folder: Path) -> None:
    """Remove a folder if its lock can be had: then nobody lives who held it."""
    if folder.lstat().st_uid != os.getuid():
        return
    held = os.open(folder / HELD, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.read(held, 256) == _machine():
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(held)


def _held(folder: Path) -> IO[bytes] | None:
    """Return the locked file of a folder: it has its name only when it is locked, so nobody is first."""
    with suppress(OSError, ModuleNotFoundError), ExitStack() as opened:
        lock = opened.enter_context((folder / "new").open("xb"))
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        lock.write(_machine())
        lock.flush()
        (folder / "new").rename(folder / HELD)
        opened.pop_all()
        return lock
    return None  # no locks here: the folder stays after a kill


def _machine() -> bytes:
    """Return what says that a lock is seen here: of another machine, or from before it started, it is not."""
    with suppress(OSError):
        return BOOT.read_bytes()
    return platform.node().encode()


_sweep_once = cache(sweep)
"""what others left is looked for once a process and place"""
