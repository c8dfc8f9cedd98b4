"""What people read; made from certificates alone."""
