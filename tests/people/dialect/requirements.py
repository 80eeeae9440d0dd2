"""What SQLAlchemy's suite may expect of a database that is only asked."""

from __future__ import annotations

from typing import Any

from sqlalchemy.testing import exclusions
from sqlalchemy.testing.requirements import SuiteRequirements

LACKING = (
    # nobody writes through Recuse
    "autoincrement_insert",
    "duplicate_key_raises_integrity_error",
    "empty_inserts",
    "empty_inserts_executemany",
    "emulated_lastrowid",
    "implements_get_lastrowid",
    "insert_from_select",
    "multivalues_inserts",
    "sane_rowcount",
    "table_ddl_if_exists",
    "index_ddl_if_exists",
    "temporary_tables",
    "temp_table_reflection",
    "temp_table_names",
    "has_temp_table",
    "create_table_as",
    "create_temp_table_as",
    # there is one schema, and a catalogue of columns, keys, references and views
    "schemas",
    "implicit_default_schema",
    "index_reflection",
    "foreign_key_constraint_name_reflection",
    "implicitly_named_constraints",
    "named_constraints",
    "unique_constraint_reflection",
    "comment_reflection",
    # what a row limit is must be written down
    "sql_expression_limit_offset",
    "binary_comparisons",
    "binary_literals",
    "json_type",
    "array_type",
)
HAVING = (
    "ctes",
    "intersect",
    "except_",
    "window_functions",
    "views",
    "view_column_reflection",
)


class Requirements(SuiteRequirements):
    """Everything that the suite's own class says, but for these."""


def _lacking(_: Any) -> Any:
    return exclusions.closed()


def _having(_: Any) -> Any:
    return exclusions.open()


for names, answer in ((LACKING, _lacking), (HAVING, _having)):
    for name in names:
        if not hasattr(SuiteRequirements, name):
            raise AttributeError(f"the suite asks for no {name}")
        setattr(Requirements, name, property(answer))
