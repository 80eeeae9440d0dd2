"""Public data that an estimate is made on."""

from __future__ import annotations

from recuse.engines.open import Source, recognised
from recuse.errors import ParameterError
from recuse.session.place import ledgers_of


def declared_public(like: Source) -> Source:
    """Return the data of an estimate, unless a ledger beside it says that it is private."""
    ledgers = ledgers_of(recognised(like))
    if ledgers:
        raise ParameterError(
            "this data has a ledger, so it is private: an estimate from it would cost what an answer costs",
            found=str(ledgers[0]),
            hint="name public data of the same schema",
        )
    return like
