"""OpenDP's measurements of discrete Laplace noise: exact samplers, of a number and of a vector."""

from __future__ import annotations

from typing import Any

from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_laplace
from opendp.metrics import absolute_distance, l1_distance
from opendp.mod import enable_features

enable_features("contrib")


def measurement(scale: float) -> Any:
    """Return what adds noise to a number of 64 bits."""
    return make_laplace(atom_domain(T="i64"), absolute_distance(T="i64"), scale=scale)


def vector_measurement(scale: float) -> Any:
    """Return what adds independent noise to every number of a list."""
    return make_laplace(vector_domain(atom_domain(T="i64")), l1_distance(T="i64"), scale=scale)
