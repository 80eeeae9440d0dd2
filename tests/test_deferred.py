"""Modules that are loaded when they are first used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from recuse.deferred import Deferred


def test_a_module_is_loaded_when_it_is_used_and_not_before():
    code = (
        "import sys\n"
        "from recuse.deferred import Deferred, sparse\n"
        "colors = Deferred('colorsys')\n"
        "before = 'colorsys' in sys.modules or 'scipy' in sys.modules\n"
        "colors.rgb_to_hsv\n"
        "print(before, 'colorsys' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_what_a_module_lacks_is_missing():
    with pytest.raises(AttributeError, match="nothing"):
        _ = Deferred("fractions").nothing
    with pytest.raises(ModuleNotFoundError):
        _ = Deferred("recuse.nowhere").anything
