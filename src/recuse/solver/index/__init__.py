"""The index r and its integer form: Newton's method on a parametric program, and what stands behind it."""
