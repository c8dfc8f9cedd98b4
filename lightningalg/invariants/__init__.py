"""Equations of the Zariski closure of a neuromanifold, by multigraded linear algebra."""
