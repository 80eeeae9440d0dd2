"""X(τ) of k-stars and k-triangles, whose choices are too many to list."""
