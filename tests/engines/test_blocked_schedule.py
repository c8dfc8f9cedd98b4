"""The schedule of a blocked elimination, run without arithmetic by threads that end steps in any order."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lightningalg.engines.blocked_schedule import LOAD, Schedule, Step


class Run:
    """Runs a schedule with an order of ends drawn at random, and keeps what an elimination relies on."""

    def __init__(self, draw, cells, pivot_cells, panels, threads):
        self.draw, self.pivot_cells, self.panels = draw, pivot_cells, panels
        self.threads = threads
        loaded = draw(st.booleans())
        self.schedule = Schedule(cells, panels, draw(st.integers(1, 3)), 1, loaded)
        self.seen = [[LOAD] * loaded for _ in range(cells)]  # what was done to each cell
        self.factored = []  # cells after each panel that has pivots
        self.covered = 0
        self.running = []

    def start(self, step):
        taken = {cell for other in self.running for cell in range(other.first, other.stop)}
        assert step.first < step.stop and not taken & set(range(step.first, step.stop))
        if step.factor:
            self.check_factor(step)
        for cell in () if step.factor else range(step.first, step.stop):
            assert cell >= self.covered and self.seen[cell] == list(range(LOAD, step.panel))
            assert step.panel < len(self.factored)
        self.running.append(step)

    def check_factor(self, step):
        assert (step.first, step.panel) == (self.covered, len(self.factored))
        assert not any(other.factor for other in self.running)
        for cell in range(step.first, step.stop):
            assert self.seen[cell] == list(range(LOAD, step.panel))
        forgotten = step.panel - self.panels  # its memory is used again
        if forgotten >= 0:
            assert all(other.panel != forgotten for other in self.running)
            assert all(forgotten in seen for seen in self.seen[step.stop :])

    def finish(self, step):
        self.running.remove(step)
        if not step.factor:
            for cell in range(step.first, step.stop):
                self.seen[cell].append(step.panel)
            return self.schedule.applied(step)
        pivots = self.draw(st.booleans())
        if pivots:
            self.factored.append(step.stop)
        self.covered = step.stop
        left = self.pivot_cells - step.stop
        return self.schedule.factored(step, pivots, min(left, self.draw(st.integers(0 if pivots else 1, 3))))

    def go(self, steps=10**6):
        """Let every thread take steps until none is left, or so many have ended."""
        while True:
            while len(self.running) < self.threads and (step := self.schedule.take()) is not None:
                self.start(step)
            assert self.schedule.over == (not self.running)
            if not self.running or not steps:
                return
            steps -= 1
            self.finish(self.draw(st.sampled_from(self.running)))


@st.composite
def runs(draw):
    cells = draw(st.integers(1, 12))
    return Run(draw, cells, draw(st.integers(1, cells)), draw(st.integers(1, 4)), draw(st.integers(1, 4)))


@given(data=st.data())
@settings(max_examples=200, deadline=None, derandomize=True)
def test_every_cell_gets_every_panel_left_of_it_once_and_in_order(data):
    run = data.draw(runs())
    run.go()
    for cell in range(run.covered, len(run.seen)):
        assert run.seen[cell] == list(range(LOAD, len(run.factored)))
    for panel, stop in enumerate(run.factored):
        assert all(panel in seen for seen in run.seen[stop:])


@given(data=st.data())
@settings(max_examples=80, deadline=None, derandomize=True)
def test_an_end_leaves_nothing_to_take(data):
    run = data.draw(runs())
    run.go(data.draw(st.integers(0, 20)))
    run.schedule.end()
    assert run.schedule.take() is None and run.schedule.over
    for step in list(run.running):  # those that run may end
        run.schedule.factored(step, False, 1) if step.factor else run.finish(step)
        assert run.schedule.take() is None


def test_a_panel_is_factored_while_an_earlier_one_is_applied():
    schedule = Schedule(4, 2, 2, 1)
    first = schedule.take()
    assert first == Step(True, 0, 0, 1) and schedule.take() is None
    schedule.factored(first, True, 1)
    ahead, rest = schedule.take(), schedule.take()
    assert (ahead, rest) == (Step(False, 0, 1, 2), Step(False, 0, 2, 4))
    schedule.applied(ahead)
    assert schedule.take() == Step(True, 1, 1, 2)  # cells 2 and 3 are still at work
