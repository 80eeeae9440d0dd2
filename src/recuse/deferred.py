"""Modules that are loaded when something in them is first used.

To load them takes longer than most questions do, and few questions need them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any


class Deferred:
    """Stands for a module until it is used, and hands on whatever is asked of it.

    >>> Deferred("fractions").Fraction("0.5")
    Fraction(1, 2)
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


if TYPE_CHECKING:
    import fcntl
    import urllib.request as web
    from http import client as http_client

    import highspy
    from pyarrow import compute
    from scipy import linalg, sparse, special
else:
    compute = Deferred("pyarrow.compute")
    fcntl = Deferred("fcntl")  # which some systems have not
    highspy = Deferred("highspy")
    http_client = Deferred("http.client")
    linalg = Deferred("scipy.linalg")
    sparse = Deferred("scipy.sparse")
    special = Deferred("scipy.special")
    web = Deferred("urllib.request")

__all__ = ["Deferred", "compute", "fcntl", "highspy", "http_client", "linalg", "sparse", "special", "web"]
