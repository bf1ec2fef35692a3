"""Runs the engine's periodic chores in one database, unless another agent does."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence

from qwf_agent.agent import db
from qwf_agent.agent.calls import SentCall
from qwf_agent.agent.jitter import spread
from qwf_agent.agent.link import Link
from qwf_agent.agent.sleeper import CHECK_TICKS, STALE_AGE
from qwf_agent.agent.worker import Worker

log = logging.getLogger("qwf_agent")

TICK_AGE = 0.7  # ticks, as their interval varies by a quarter: a lone agent then runs every tick


class Ticker:
    """Ticks about once a second and when the next job is due, unless another agent just did.

    Invariant: at most one tick is under way. `ticked` says whether one that has left nothing due
    has begun and ended since the agent had work; only --until-empty asks for it.
    """

    def __init__(self, link: Link, until_empty: bool) -> None:
        self.ticked = False
        self._link = link
        self._until_empty = until_empty
        self._ticking: SentCall | None = None
        self._at = 0.0
        self._others_tick = False  # as far as this agent knows
        self._busy_at = self._began_at = 0.0

    def note_work(self, now: float) -> None:
        """Note that the agent has work."""
        self._busy_at, self.ticked = now, False

    def step(self, workers: Sequence[Worker], now: float) -> None:
        """Take in the answer of a tick, and tick if it is time. The workers are those of the
        database."""
        tick_s = workers[0].settings.tick
        if self._ticking is not None and self._ticking.done:
            call, self._ticking = self._ticking, None
            self._take(call, workers, now)
        for worker in workers:
            wanted_s = worker.sleeper.take_tick_in_s()
            if wanted_s is not None and self._others_tick:
                self._at = now + wanted_s  # a sleeping worker checks it with its heartbeat
        own = self._until_empty and not self.ticked  # what others ticked may be too old
        if own:
            self._at = min(self._at, self._began_at + tick_s)
        if self._ticking is None and now >= self._at and self._link.up:
            self._at = now + spread(tick_s)
            # cheapest if one agent runs them all
            age = 0.0 if own else STALE_AGE if self._others_tick else TICK_AGE
            self._ticking = self._link.send(db.tick(age * tick_s))
            self._began_at = now

    def next_at(self) -> float:
        """When it ticks next."""
        return self._at if self._link.up and self._ticking is None else float("inf")

    def _take(self, call: SentCall, workers: Sequence[Worker], now: float) -> None:
        if call.failure is not None and not call.failure.lost:
            log.warning("tick failed: %s", call.failure)
        done = json.loads(call.value() or "{}")
        due_s = done.get("next_due_s")
        self._others_tick = done.get("ran") is False
        if call.value() and done.get("ran") and not done.get("errors") and due_s != 0:
            self._note_tick(workers)
        if self._others_tick:  # check again later that they still do
            self._at = now + spread(CHECK_TICKS * workers[0].settings.tick)
        if due_s:
            self._at = min(self._at, now + max(0.01, float(due_s)))

    def _note_tick(self, workers: Sequence[Worker]) -> None:
        """Note a tick that has left nothing due, if it has begun since this agent had work."""
        if not self.ticked and self._began_at > self._busy_at:
            self.ticked = True
            for worker in workers:
                worker.empty_claims = 0
