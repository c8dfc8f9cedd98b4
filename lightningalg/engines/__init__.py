"""Algebra engines: the only importers of sympy, flint, numba and external programs."""
