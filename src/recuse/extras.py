"""Modules whose packages a plain installation leaves out."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from recuse.errors import RecuseError


def import_extra(module: str, refusal: RecuseError) -> Any:
    """Return a module of this program, or refuse if a package that it needs is not installed.

    >>> from recuse.errors import ParameterError
    >>> import_extra("recuse.fold", ParameterError("nothing folds")).__name__
    'recuse.fold'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("recuse"):
            raise
        raise refusal from None
