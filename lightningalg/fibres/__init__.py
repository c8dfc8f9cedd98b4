"""Which weights give the same function: fibres at a point, and weights from values."""
