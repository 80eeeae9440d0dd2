"""The total language on PostgreSQL: another compiler, and the functions that mean something else there.

spelling   PostgreSQL's types and constants, and how stored values are read
own        functions of PostgreSQL's own meaning: /, round, substring, trim …
quotients  of integers, of exact numbers, of floats
convert    from one type to another, without TRY_CAST
magnitude  floats: between which sizes they lie, so that nothing overflows or underflows
numbers, words, moments   the forms of functions
compiler   an expression → SQL in which every subexpression is total
"""
