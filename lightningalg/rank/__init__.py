"""Generic rank of the Jacobian: lower bounds by minors, upper bounds by arguments."""
