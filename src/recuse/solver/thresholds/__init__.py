"""X(τ) of relations with thresholds: programs, cuts, certificates of their own."""
