"""The total language: typed row-wise expressions in which nothing raises.

    types        what a value can be, and which values one expression can have
    expression   constants, columns, conversions, calls
    function     one row of the table of functions: types, meaning, compiled form, documentation
    logic, numbers, division, rounding, buckets, bits, floats,
    text, growth, patterns, dates, units, moving               the rows
    regular, letters                                           what patterns and letters are
    table        all of them, by name
    document     all of them, for users
    convert      from one type to another
    build        an operation over typed arguments → an expression, constants folded
    evaluate     the language's meaning, in Python
    duckdb       an expression → SQL for DuckDB, in which every subexpression is total

Guarantee: every operation has a value or NULL for every input, and so has every *sub*expression of its
compiled form, wherever an optimiser evaluates it (proofs.md, "Row-wise expressions").
"""
