"""Limits: every number that a solver's speed was tuned with, by room. None of them can make an answer wrong.

What a solver finds counts once it is certified, so these decide how soon, never what. After each stands where
it was measured:

    bench     on the relations of `make bench` and the graphs in performance.md
    torture   on the relations of tests/solver/test_torture.py and tests/solver/test_exact.py
    forum     on the joins of the made forum (docs/results/performance.md)
    guess     not measured yet
    safety    not measured: it is reached where a method goes in circles, and ends it
"""

from __future__ import annotations

# ------------------------------------------------------------------ fast: which route is tried when

FOCUS_MARGIN = 0.88
"""A focus reaches this far below the τ it was made for, so that a next question may share it. (bench)"""
FEW_TUPLES_EACH, FEW_TUPLES = 64, 250_000
"""Tuples a participant, and in all, below which X is sooner found with the tuples left in the program.
(bench)"""
SPARSE_TUPLES_EACH = 5
"""Tuples a participant below which the interior-point method solves a program with the tuples left in it.
(bench)"""
CROWD, FIRST_ORDER_MEMBERS = 400, 5_000_000
"""Participants from which cuts are slow, and members of tuples up to which a first-order method is not.
(bench)"""
GLIMPSE_ITERATIONS, GLIMPSE_WORK = 1000, 1e9
"""Its iterations, and entries passed over in them, when it looks ahead for N_s: a few per cent of the count,
where cuts may take minutes for the first of them. (bench)"""
ROUNDS_AT_FIRST = 2
"""Rounds of cuts before any of that: most levels of a noisy maximum have lost by then. (bench)"""
QUICK_TUPLES, SEEN_AT_ONCE = 300_000, 2e-4
"""Tuples up to which a crowd is looked at before any cut, and how closely a count is asked for then at most,
as a share of the crowd: two masters of cuts may take ten times as long. (race_report: 2-stars of G(600))"""
FEW_OVERLOADED, MANY_TUPLES = 400, 10_000
"""Overloaded participants up to which cuts are never slow, and tuples from which an interior point may be:
there all rounds come first. (forum)"""
FOCUS_WIDENINGS = 8
"""How often a focus is widened before the reference solver takes over. (safety)"""

FEW_KEPT_MEMBERS = 1_000_000
"""Members of tuples in an engine up to which all are listed sooner than they are asked about. (bench)"""
MOST_KEPT_GROUPS = 100
"""Groups that are asked one by one while their rows stay in an engine; more are read. (guess)"""

# ------------------------------------------------------------------ reference

REFINEMENTS = 4
"""Rounds of refinement; each gains about twenty bits, or none. (torture)"""
EXACT_ROWS = 2_000
"""Rows up to which the exact method is quicker than refinement. (bench)"""
HALVINGS = 100
"""Bisections in doubles before the index is found in rationals: more than doubles have bits. (safety)"""
SIMPLEX_ROWS = 50_000
"""Rows above which less exact methods are tried before the simplex method. (bench)"""

# ------------------------------------------------------------------ lp

FIRST_ORDER_GAP = 1e-5
"""The relative gap that a first-order method is asked for, unless told otherwise. (bench)"""
FINEST_TOLERANCE = 1e-10
"""The least tolerance that HiGHS takes: a smaller one it would refuse, and use its default instead.
(safety)"""
FIRST_ORDER_ITERATIONS = 20_000
"""Iterations after which a program is not for a first-order method. (safety)"""
SIMPLEX_ITERATIONS, SIMPLEX_ITERATIONS_A_ROW = 10_000, 100
"""Iterations, and more a row and a column, after which the simplex method may be going in circles.
(safety)"""
MASTER_ENTRIES, MASTER_ENTRIES_A_COLUMN = 1_000_000, 600
"""Entries, in all and a column, above which the cuts of a relation are too dense to be worth going on.
(bench)"""
NEW_ROWS_FOR_FIRST_ORDER, MASTER_WORK = 1000, 3e8
"""New rows since the last basis above which PDLP is tried first, and entries that it may pass over.
(bench)"""
HEAVIEST_WEIGHT = 2.0**32
"""A weight this many times τ may as well be lighter: its tuple is gone either way, to 32 bits. (safety)"""
WHOLE_TUPLES_WORK = 1.5e9
"""Entries passed over after which a program is not for a first-order method. (bench)"""
WHOLE_TUPLES_GAPS = 1, 1 / 16
"""Relative gaps that it is asked for, in units of the one that would close the interval if it were proven.
(bench)"""
GLIMPSE_GAP = 1e-3
"""The relative gap that it is asked for where it only looks ahead. (bench)"""
SECOND_LOOK_MARGIN, SECOND_LOOK_GAP = 1 / 2, 5e-5
"""How much closer than it seems to need a second look is, and the gap below which cuts are as quick.
(race_report: edges of ego-Facebook, 2-stars of G(600))"""
REFINEMENT_GAIN = 2**20
"""How much smaller an error is expected to be after a round. (safety)"""

# ------------------------------------------------------------------ cuts

LONGEST_CLAUSE_IN_PAIRS = 4
"""Members of a clause up to which its pairs are listed. (bench)"""
TRUNCATION_ROUNDS = 60
"""Masters for X before the question is handed on. (safety)"""
TRUNCATION_STEP = 0.65
"""How far from the best point so far to the master's optimum the next cuts are taken. (bench)"""
SIMPLE_DENOMINATORS = (6, 12)
"""Denominators that optimal withdrawals often have: a clique withdraws from its triangles by 1/3 each.
(bench)"""
MOSTLY_ALONE = 0.75
"""When this many participants are told apart already, the rest is not worth the search. (bench)"""
COUNT_ROUNDS = 60
"""Masters before the question is handed on. (safety)"""
NEGLIGIBLE_OUTSIDERS = 1e-4
"""What participants outside the focus may cost a lower end before they are asked in. (safety)"""
NEARLY_NEEDED = 0.7
"""Whoever is this close to costing it something is asked in with them, or would be next time. (bench)"""
OVERCHARGES = (1.0, 2.0, 4.0)
"""How far a proof without a program overcharges the participant it charges most. (bench)"""

# ------------------------------------------------------------------ choices

SETTLING_ROUNDS = 40
"""Rounds in which edges are settled by what was settled before; the rest is left to the program. (torture)"""
CHOICE_ROUNDS = 200
"""Cuts of an X of choices before the question is handed on. (safety)"""
FEW_PLAYERS = 400
"""Movable participants that may all be players at once. (bench)"""
PROOF_AT = 0.7
"""How much of the width asked for may be left when a proof is tried. (bench)"""
FIRST_PROOF_AT = 20.0
"""The same when outsiders are looked for a first time: there is no use in closing a gap without them.
(bench)"""
NEGLIGIBLE_SLOPE = 2.0**-30
"""By how much, in units of τ, a slope may exceed τ, or a master be below a cut, without being told.
(safety)"""
FAINT_ENTRY = 2.0**-26
"""Entries of the master, in units of τ, that are not worth having: a million of them change nothing.
(safety)"""

# ------------------------------------------------------------------ thresholds

FEWEST_THRESHOLD_ROWS, FEW_THRESHOLD_ROWS = 1_000, 20_000
"""Rows up to which the simplex method is quickest for thresholds, and up to which an interior point is.
(bench)"""
SMALL_CORE, LARGEST_CORE = 1_200, 4_000
"""Tuples and thresholds up to which everybody may withdraw at once, and up to which, with members, the dense
systems of an interior point are solved. (bench)"""
INTERIOR_ITERATIONS, INTERIOR_CORRECTORS = 80, 2
"""Its iterations before a program is handed on (safety), and correctors in one of them. (bench)"""
INTERIOR_GAP, INTERIOR_GAIN = 1 / 4, 16
"""The gap at which a proof is tried, in units of the width asked for, and by how much less it is next time.
(bench)"""
LIKELY_OVERLOADED = 0.3
"""Whoever has this part of τ when everybody shares evenly may withdraw, in a first round. (bench)"""
LIKELY_DECISIVE = 1.0
"""Levels of a sum are asked in a first round if, when all withdraw alike, they lose so many times as much as
the one that loses least. (bench)"""
ACTIVE_SET_ROUNDS = 12
"""Rounds in which more people and more levels are asked in. (safety)"""
NEGLIGIBLE_EXCESS = 1e-4
"""How much of what a threshold allows may be exceeded before it is asked in. (bench)"""
LOWERED_LOSS_STEP = 4.0
"""By how much more a guessed loss is lowered each time that it is not proven. (torture)"""

# ------------------------------------------------------------------ index

INDEX_HINT_WIDTH = 2.0**-4
"""How near an index is found before an integer is guessed. (safety)"""
INDEX_WIDTHS = (2.0**-10, 2.0**-20)
"""What is tried with certified doubles before everything is done in rationals. (safety)"""
FITTING_PASSES = 60
"""Passes of proportional fitting before its proof is given up. (safety)"""
FITTING_TIE = 2.0**-24
"""Losses this close tie: a mixture of them is as good as the least, and who computed them rounded.
(safety)"""
FITTING_EXCESS = 1e-3
"""The charge above one, in all, at which balancing ends. (safety)"""
FITTING_STEP = 4.0
"""By how much a preference may change in one pass. (bench)"""
NEAR_TAU = 0.9
"""Whoever has this part of τ left after the common withdrawal may withdraw more. (bench)"""
SPLITS = 5
"""How often groups are split before another method is tried. (bench)"""
SETTLED_OVERLOAD = 1e-6
"""The overload, as a part of τ, above which a proof says more of missing cuts than of the groups. (bench)"""
UNEVEN_CHARGE = 1e-3
"""By how much a charge may differ from one before a participant gets a variable of its own. (bench)"""
COMMON_WITHDRAWALS = (0.0, *(2.0 ** (-i / 2) for i in range(24, 1, -1)))
"""Common withdrawals among which a first guess is taken. (bench)"""
FULL_NEWTON_PROGRAMS = 12
"""Programs before the question is handed on. (safety)"""
MEETING = 2
"""Tuples a participant up to which cuts are sparse, and many participants one variable. (race_report)"""
SECANT_STEPS = 12
"""Counts before the secant method hands on; it takes about four. (race_report)"""
NEWTON_STEPS = 80
"""Steps of Newton's method before the question is handed on. (safety)"""
NEWTON_LONGEST_STEP = 0.7
"""How far ln τ may move at once: a τ that is far too small costs more than several that are not. (bench)"""
NEWTON_CAUTION = 0.07
"""How far ln τ starts above the guess: fewer are overloaded there, so that an error costs less. (bench)"""

# ------------------------------------------------------------------ exact

EXPONENTIAL_DIGITS = 30
"""Digits of e^x in a first guess at who is overloaded; a comparison takes as many as it needs. (torture)"""
EXACT_CUTS, EXACT_CUTS_A_COLUMN = 200, 8
"""Cuts, and more a column, above which those that lie idle are dropped once the bound has risen. (torture)"""
STEPS_WITHOUT_PROGRESS = 20
"""Steps without progress after which Bland's rule takes over, until there is some: it cannot cycle.
(torture)"""
