"""Dimensions of many architectures: what to do, a store that survives anything, local or distributed work."""
