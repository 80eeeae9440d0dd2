"""An address → where the database on a server is, as it may be shown. Nothing is imported for it."""

from __future__ import annotations

from recuse.engines.postgres_place import PostgresPlace, is_postgres
from recuse.engines.spark_place import SparkPlace, is_spark


def place_at(source: object) -> PostgresPlace | SparkPlace | None:
    """Return where an address leads; None of what is no address of a server that is known."""
    if isinstance(source, str) and is_spark(source):
        return SparkPlace(source)
    return PostgresPlace(source) if isinstance(source, str) and is_postgres(source) else None
