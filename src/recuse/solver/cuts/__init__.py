"""Kelley's cutting planes over withdrawals: for how many withdraw (N, N_s), and for X."""
