"""Singular points, boundary, closedness and membership for one layer, orbit by orbit (MATH.md section 3)."""
