"""Ideals of fibres, their components, and what of it is proved."""
