"""How the laws are run: tests/support/profiles.py."""

from __future__ import annotations

from support.profiles import load_profile

load_profile()
