"""Solvers: certified intervals for the programs of a relation. They always answer.

What every theorem on a mechanism assumes of them, and all that it assumes:

    for every relation and every τ, θ, β, width  a call ends, raises nothing, and returns an `interval`
    that holds the exact number and is no wider than was asked (or whose low end exceeds
    `stop_above`);
    `integer_index` returns the exact integer.

Which algorithm answers which question (`fast`, `reference`, `choices.programs` hold the routes;
`limits` says where one gives way to the next):

    X(τ)      1. τ ≥ the largest load: the exact sum, no program
              2. OR, or few tuples: tuples stay in the program (`lp.whole_tuples`): maximum flow if every
                 clause is one person, PDLP at two gaps, an interior point; PDLP only for hundreds overloaded
              3. no OR: Kelley's cuts, one a person (`cuts.truncation`), symmetric people one variable
                 (`cuts.symmetry`), a warm dual simplex (`lp.master`)
              4. the full program (`lp.program`) by the simplex method (`lp.extended`), then iterative
                 refinement (`lp.refinement`)
    N(τ)      1. nobody overloaded: 0; loads alone prove that it is too large (`glance`, `bounds.loads_low`)
              2. Kelley's cuts of loads over the overloaded (`cuts.counts`); whom a proof needs is asked in
              3. the full program
    N_s(τ)    1. as N, two rounds; all of them where few are overloaded
              2. few tuples: an interior point; hundreds overloaded: PDLP stopped early (`lp.whole_tuples`)
              3. Kelley's cuts, sixty rounds
              4. the full program
    r         1. conjunctions, clauses: Newton's method on N(θe^{βs}) = s over Kelley's masters
                 (`index.newton`); before it, where a crowd is overloaded, the secant method over PDLP's N
                 (`index.secant`); trees: Newton over one common and a few own withdrawals
                 (`index.common_withdrawal`, column generation), proven by `index.proportional_fitting`
              2. Newton's method on full programs (`index.full_newton`)
              3. bisection on full programs (`reference`)
    integer   1. a certified r without an integer inside (`index.integer`)
    index     2. N at both roundings
              3. rationals
    X(τ) of   1. protected edges of stars: what is certain is settled (`choices.pendants`), the rest is a
    stars       fractional matching (`choices.matching`)
    and       2. others: hubs that leave for certain (`choices.presolve`), then Kelley's cuts over the players
    books        (`choices.cuts`)
              3. the full program (`choices.full`)
    X(τ) of   1. τ from where nobody takes anything away: the exact sum
    thresh-   2. ORs of thresholds over clauses (`thresholds.flat`): one column a clause, by an interior point
    olds         with a dense core (`thresholds.interior`), few levels first (`thresholds.active_set`)
              3. the full program, one column more a child (`thresholds.programs`): PDLP at two gaps, an
                 interior point, the simplex method, iterative refinement
    all       last: Kelley's cuts over an integer dual simplex (`exact`, `choices.exact`, `thresholds.exact`)

Kelley's method cuts with tangents (`cuts.tangents`) that all τ share (`cuts.pool`), over those who may
withdraw: a restriction (`cuts.restriction`, `choices.restriction`, `thresholds.restriction`) in which others
stay (`cuts.outside`). What was found once is kept (`memo`). `exact.kelley` is the same in integers, over
`exact.simplex`; aggregates of neighbours are interpolated binomials (`choices.binomials`).

Where tuples are (`source`): in memory, or in an engine (`kept`, through `kept.warehouse`), which sends loads
as a histogram, a focus, and sums over those whom it leaves out; where every row has one owner there are
closed forms (`separate`); groups stay there, too (`kept.grouped`). `kept.tuples` are its tables.

Guarantee: what doubles find is an answer only once `certificate` and `bounds` have proven its ends in
outward-rounded or integer arithmetic, and whatever they raise is caught (`attempt`). The last resort has no
tolerance, no limit and no status: there are finitely many cuts and finitely many bases, and Bland's rule
visits none twice. It is slow where thousands of participants are overloaded, and needed where a load is
within rounding of τ. Ends are doubles: a width below their spacing cannot be had.

Which route answers depends on the data, and may be seen in the time it takes (known-limits.md), never in
the answer's distribution: that every admissible value is private is what the theorems say.
"""
