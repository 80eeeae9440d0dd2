"""Which lines and branches of the privacy-critical modules no test reaches: there must be none.

    python tests/support/coverage.py REPORT        a JSON report of coverage.py, as `make coverage` writes it

Prints the modules that are reached least, and every line and branch of a critical module that is not reached;
leaves with 1 if there is one of these. What is critical stands in pyproject.toml, [tool.recuse.coverage].
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
Files = dict[str, dict[str, Any]]


def critical(names: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """Return the files that match one of the patterns; a pattern that matches nothing is an error."""
    names, found = list(names), set()
    for pattern in patterns:
        matching = {name for name in names if fnmatch(name, pattern)}
        if not matching:
            raise ValueError(f"no measured file matches {pattern}")
        found |= matching
    return sorted(found)


def unreached(files: Files, names: Iterable[str]) -> list[str]:
    """Return the lines and branches of some files that no test reaches, one in a line of text."""
    found = []
    for name in names:
        lines = files[name]["missing_lines"]
        found += [f"{name}:{line} is not reached" for line in lines]
        found += [
            f"{name}:{start} never leads to {end if end > 0 else 'the end'}"
            for start, end in files[name]["missing_branches"]
            if start not in lines
        ]
    return found


def main(report: str) -> int:
    """Return 1 if something critical is not reached, else 0."""
    files: Files = json.loads(Path(report).read_text())["files"]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["recuse"]["coverage"]
    least = sorted(files, key=lambda name: files[name]["summary"]["percent_covered"])
    for name in least[:15]:
        print(f"{files[name]['summary']['percent_covered']:6.1f} %  {name}")
    missing = unreached(files, critical(files, settings["critical"]))
    print(*missing, sep="\n")
    print(f"{len(missing)} lines and branches of privacy-critical modules are not reached")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
