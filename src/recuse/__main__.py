"""`python -m recuse`."""

from __future__ import annotations

from recuse.cli.app import main

main()
