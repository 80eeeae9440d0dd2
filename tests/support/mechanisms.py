"""Mechanisms as tests use them: as a function of what is asked, who answers and the noise."""

from __future__ import annotations

from recuse.mechanism.prepared import Prepared
from recuse.mechanism.release import Release
from recuse.mechanism.truncating import Mechanism
from recuse.noise import Noise


def run(subject: Prepared, mechanism: Mechanism, noise: Noise) -> Release:
    """Return one private answer."""
    return mechanism.release(subject, noise)
