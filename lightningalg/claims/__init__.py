"""Claims about networks: what is stated, and how it is certified."""
