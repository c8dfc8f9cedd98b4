"""Certificate worksheets: reading and running them."""
