"""One settings file for one measurement of the race: what was solved with it is not reported with another.

A folder of tables keeps the file that it was begun with, and the commits that solved for it.
"""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from recuse.errors import ParameterError
from recuse.privacy import Epsilon

USUAL = Path(__file__).with_name("race.toml")
KEPT, COMMITS = "race.toml", "commits.txt"


@dataclass(frozen=True, slots=True)
class RaceSettings:
    """What is measured, how often, and from which seed."""

    runs: int
    most: int
    judged: int
    epsilons: Mapping[str, tuple[str, ...]]

    @classmethod
    def read(cls, path: Path = USUAL) -> Self:
        """Return the settings of a file, every one of them."""
        found = tomllib.loads(path.read_text())
        if set(found) != {"runs", "most", "judged", "epsilons"}:
            raise ParameterError(
                "these are not the settings of the race", found=", ".join(found), accepted=str(USUAL)
            )
        epsilons = {family: tuple(texts) for family, texts in found["epsilons"].items()}
        for text in (text for texts in epsilons.values() for text in texts):
            Epsilon.of(text)
        return cls(found["runs"], found["most"], found["judged"], epsilons)


def begun(folder: Path, path: Path = USUAL) -> RaceSettings:
    """Return the settings of a folder of tables that is begun or gone on with, and note the commit."""
    found, kept = RaceSettings.read(path), folder / KEPT
    folder.mkdir(parents=True, exist_ok=True)
    if kept.exists() and RaceSettings.read(kept) != found:
        raise ParameterError(
            "these tables were begun with other settings", found=str(path), accepted=str(kept)
        )
    kept.write_text(path.read_text())
    commits = _commits(folder)
    if (now := commit()) not in commits:
        (folder / COMMITS).write_text("\n".join([*commits, now]) + "\n")
    return found


def stated(folder: Path, settings: RaceSettings) -> str:
    """Return what a report says of itself: replays, seeds and commits."""
    solved = ", ".join(_commits(folder)) or "not known"
    return (
        f"{settings.runs:,} replays a cell, seed {settings.judged} for made relations; "
        f"solved at {solved}, replayed at {commit()}"
    )


def commit() -> str:
    """Return the commit of this code, and whether it was changed since."""
    here = Path(__file__).parent
    asked = ["git", "-C", str(here), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        found = subprocess.run(asked, capture_output=True, text=True, check=False)
    except OSError:
        return "not known"
    return found.stdout.strip() or "not known"


def _commits(folder: Path) -> list[str]:
    path = folder / COMMITS
    return path.read_text().split() if path.exists() else []
