"""Networks: layers on a directed acyclic graph. No algebra system is imported here."""
