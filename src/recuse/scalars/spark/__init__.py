"""The total language on Apache Spark: another compiler, and the functions that mean something else there.

spelling   Spark's types and constants, and how stored values are read
own        functions of Spark's own meaning: /, substring, casts to whole numbers
convert    from one type to another; every cast is a TRY_CAST
numbers, words, moments   the forms of functions
compiler   an expression → SQL in which every subexpression is total
"""
