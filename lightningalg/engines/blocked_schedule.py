"""Which step of a blocked elimination may run next: bookkeeping for several threads, without arithmetic.

The columns are cut into cells. A panel is factored over the next cells as soon as
all earlier panels have been applied to these; any panel is applied to any cell
to which those before it have been applied. So a thread waits only when no step
at all is ready, not at every panel.
"""

from __future__ import annotations

from typing import NamedTuple

LOAD = -1

# Cells are filled that many times as many at once as a panel is applied to.
_LOADED_TOGETHER = 4

# Stands for the number of panels applied to a cell while a thread has the cell.
_TAKEN = 1 << 62


class Step(NamedTuple):
    """Apply panel ``panel`` to cells ``first .. stop-1``, or factor panel ``panel`` over them.

    To apply panel ``LOAD`` is to fill the cells with the input.
    """

    factor: bool
    panel: int
    first: int
    stop: int


class Schedule:
    """The state of one elimination; its caller holds a lock over every call.

    Parameters
    ----------
    cells
        Ranges of columns, from left to right.
    slots
        Panels that can be remembered: a panel is factored only when the panel that
        many before it has been applied everywhere.
    piece
        The most cells of one step.
    first_panel
        Cells of the first panel.
    loaded
        Whether the cells are filled already.
    """

    def __init__(self, cells: int, slots: int, piece: int, first_panel: int, loaded: bool = True) -> None:
        self._slots, self._piece = slots, piece
        self._applied = [0 if loaded else LOAD] * cells  # the number of panels, for each cell
        self._unfinished: list[int] = []  # for each panel the cells to which it must still be applied
        self._first, self._stop = 0, first_panel  # cells of the next panel; none if empty
        self._taken = 0
        self._ended = False

    def take(self) -> Step | None:
        """Return a step that is ready, first those which the next panel waits for; ``None`` if none is."""
        step = None if self._ended else self._next_panel() or self._application()
        if step is not None:
            self._applied[step.first : step.stop] = [_TAKEN] * (step.stop - step.first)
            self._taken += 1
        return step

    @property
    def over(self) -> bool:
        """Whether no step runs; if none is ready either, there will be none."""
        return self._ended or self._taken == 0

    def applied(self, step: Step) -> None:
        """Note the end of a step that applied a panel."""
        count = step.stop - step.first
        self._applied[step.first : step.stop] = [step.panel + 1] * count
        if step.panel != LOAD:
            self._unfinished[step.panel] -= count
        self._taken -= 1

    def factored(self, step: Step, pivots: bool, next_panel: int) -> None:
        """Note the end of a factorisation: whether there were pivots, and how many cells the next has."""
        if pivots:
            self._unfinished.append(len(self._applied) - step.stop)
        self._first, self._stop = step.stop, step.stop + next_panel
        self._taken -= 1

    def end(self) -> None:
        """Let no further step be ready."""
        self._ended = True

    def _next_panel(self) -> Step | None:
        """Factor the next panel or, if its cells are not ready, apply another panel to one of them."""
        first, stop, panels = self._first, self._stop, len(self._unfinished)
        if first == stop:
            return None
        state = self._applied[first:stop]
        behind = min(state)
        if behind < panels:
            cell = first + state.index(behind)
            return Step(False, behind, cell, cell + 1)
        if max(state) == panels and (panels < self._slots or not self._unfinished[panels - self._slots]):
            return Step(True, panels, first, stop)
        return None

    def _application(self) -> Step | None:
        """Apply the panel that is furthest behind to the cells on the left that wait for it."""
        panels, state = len(self._unfinished), self._applied
        behind = min(state[self._first :], default=panels)
        if behind >= panels:
            return None
        first = stop = state.index(behind, self._first)
        piece = self._piece * (_LOADED_TOGETHER if behind == LOAD else 1)
        limit = min(first + piece, len(state))
        while stop < limit and state[stop] == behind:
            stop += 1
        return Step(False, behind, first, stop)
