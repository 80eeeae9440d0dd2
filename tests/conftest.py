"""How the laws are run: without deadlines (machines are noisy), and the same examples each time in CI."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("recuse", deadline=None, max_examples=100, derandomize=bool(os.environ.get("CI")))
settings.load_profile("recuse")
