"""One expression for each class of error, the values on which it fails, and values on which it does not."""

from __future__ import annotations

# an expression over one row, the poisoned values, harmless values for which it is true or 1
POISON = {
    "cast to integer": ("CAST(s AS INTEGER)", {"s": "x"}, {"s": "1"}),
    "cast to boolean": ("CAST(s AS BOOLEAN)", {"s": "x"}, {"s": "true"}),
    "cast to date": ("year(CAST(s AS DATE)) - 1999", {"s": "2000-13-01"}, {"s": "2000-01-01"}),
    "narrowing cast": ("CAST(b AS TINYINT)", {"b": 300}, {"b": 1}),
    "decimal cast": ("CAST(b AS DECIMAL(3, 2))", {"b": 300}, {"b": 1}),
    "float cast": ("CAST(f AS BIGINT)", {"f": float("nan")}, {"f": 1.0}),
    "integer division by zero": ("b // b", {"b": 0}, {"b": 1}),
    "modulo by zero": ("(b + 1) % b + 1", {"b": 0}, {"b": 1}),
    "negation overflow": ("-b", {"b": -(2**63)}, {"b": -1}),
    "absolute value overflow": ("abs(b)", {"b": -(2**63)}, {"b": 1}),
    "decimal overflow": ("d * d", {"d": "99999999999999999999.9999999999"}, {"d": "1"}),
    "square root": ("sqrt(f)", {"f": -1.0}, {"f": 1.0}),
    "logarithm": ("ln(f) + 1", {"f": -1.0}, {"f": 1.0}),
    "power overflow": ("pow(f, 1000)", {"f": 1e300}, {"f": 1.0}),
    "exponential overflow": ("exp(f)", {"f": 1e6}, {"f": 0.0}),
    "date overflow": ("month(day + INTERVAL 1 YEAR)", {"day": "400000-01-01"}, {"day": "2000-01-01"}),
    "substring": ("length(substring(s, b, b))", {"s": "abc", "b": -(2**63)}, {"s": "a", "b": 1}),
    "implicit cast": ("CASE WHEN s THEN 1 END", {"s": "x"}, {"s": "true"}),
    "text against number": ("CASE WHEN s = i THEN 1 END", {"s": "x", "i": 1}, {"s": "1", "i": 1}),
    "text against date": (
        "CASE WHEN day = s THEN 1 END",
        {"s": "x", "day": "2000-01-01"},
        {"s": "2000-01-01", "day": "2000-01-01"},
    ),
    "round": ("CAST(round(d, 0) AS TINYINT)", {"d": "1000"}, {"d": "1"}),
}
COLUMNS = {"i": "INTEGER", "b": "BIGINT", "f": "DOUBLE", "d": "DECIMAL(30,10)", "s": "VARCHAR", "day": "DATE"}
