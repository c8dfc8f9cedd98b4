"""Symmetries of networks; identities between words in matrix symbols, for all sizes at once."""
