"""Linear programs: as arrays, solved by HiGHS, as growing masters, in full, with whole tuples, refined."""
