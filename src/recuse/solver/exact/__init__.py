"""The last resort, without tolerances: Kelley's cuts over an integer dual simplex."""
