"""Solvers: certified intervals for the programs of a relation. They always answer.

What every theorem on a mechanism assumes of them, and all that it assumes:

    for every relation and every τ, θ, β, width  a call ends, raises nothing, and returns an interval that
    holds the exact number and is no wider than was asked (or whose low end exceeds `enough`);
    `integer_index` returns the exact integer.

Guarantee: three routes stand behind each other. Doubles are quick: cutting planes (`cutting`), then whole
programs (`reference`, `aggregate`); what they find is an answer only once `certificate` has proven both ends
in outward-rounded or integer arithmetic, and whatever they raise is caught (`attempt`). Behind them stands
Kelley's method over an integer dual simplex (`exact`, `exact_cuts`, `exact_programs`, `aggregate_exact`),
which has no tolerance, no limit and no status: there are finitely many cuts and finitely many bases, and
Bland's rule visits none twice. It is slow where thousands of participants are overloaded, and needed where a
load is within rounding of τ. Ends are doubles: a width below their spacing cannot be had.

Which route answers depends on the data, and may be seen in the time it takes (docs/known-limits.md), never in
the answer's distribution: that every admissible value is private is what the theorems say.
"""
