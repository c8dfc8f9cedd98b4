"""One module for each contestant; each runs as a process of its own, started by ``peers.child``.

``timing`` and ``linbox_rank`` also run under an interpreter without lightningalg:
they import nothing of it.
"""
