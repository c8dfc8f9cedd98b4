"""Polynomial maps of networks: evaluation over any ring, coordinates, Jacobians, degrees."""
