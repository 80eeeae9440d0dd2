"""Names as the engine compares them: without regard to the case of the letters A to Z, and of no others.

DuckDB folds ASCII letters only, in names of tables, columns, aliases and CTEs, quoted or not. Unicode knows
more pairs: the Kelvin sign is a capital k, and ſ a small s. To fold by Unicode would take two tables of the
engine for one, and give the rows of one the owners of the other (tests/test_fold.py asks DuckDB).
"""

from __future__ import annotations

from functools import lru_cache
from string import ascii_lowercase, ascii_uppercase

_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)


@lru_cache(maxsize=1 << 14)
def fold(name: str) -> str:
    """Return a name in the form by which it is compared; it is as long as the name.

    >>> fold("Person"), fold("\\u212a"), fold("ÄÖ")
    ('person', '\\u212a', 'ÄÖ')
    """
    return name.translate(_SMALL)


def same(left: str, right: str) -> bool:
    """Return whether two names are one to the engine."""
    return fold(left) == fold(right)
