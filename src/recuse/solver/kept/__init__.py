"""Programs of tuples that stay in an engine: only what a program needs leaves it.

    warehouse   what an engine can do: keep a table, lend a small one, read rows
    tuples      the tables of one sign: owner sets with weights, and everybody's load
    loads       what loads alone say, from a histogram of a few rows
    separate    programs of people who share nothing, in closed form
    source      a focus, cut out by the engine; `outside` whom it leaves out

All sums in the engine are of whole numbers, hence exact, and the same in whatever order; what is rounded is
rounded outward, here. Guarantee: X is a function of the tuples as a multiset, of names and of τ (proofs.md,
lemma P), and every interval is certified (`solver.certificate`), as if the tuples were in memory.
"""
