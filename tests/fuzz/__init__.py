"""Random input for everything that reads from outside: ``python -m tests.fuzz --seconds 600``."""
