"""What people want of a worker: on, or off and how; and which models on its box."""

from __future__ import annotations

import logging

from qwf_agent import db
from qwf_agent.agent.link import Call, Link, Notification
from qwf_agent.agent.slot import ModelOrder

log = logging.getLogger("qwf_agent")

OFF_ASK_S = 1.0  # how often to ask while off, where its time may end without a word that is heard
HEARD_AGAIN = 1.5  # times how often it asks: by then a sleeper has heard again
NO_SUCH = "QW001"
UNKNOWN = "unknown"


class Control:
    """Asks the database what a worker is to do: when it is told that this has changed, and about
    as often as it beats, unless it hears then that there is nothing.

    Invariant: `policy` is how it is off, as the database last said; None when on. Before the first
    answer it is off.
    """

    def __init__(self, worker_id: str, host: str, queue: str, every_s: float, link: Link) -> None:
        self.policy: str | None = UNKNOWN
        self.every_s = every_s  # how often it asks while it would be told of a change
        self.hears = False  # whether it would
        self.forgotten = False  # the database knows no such worker any more
        self._worker_id = worker_id
        self._payload = f"{host}:{queue}"
        self._link = link
        self._asking: Call | None = None
        self._taking: Call | None = None
        self._ask_at = 0.0
        self._turned: str | None = UNKNOWN  # what the agent has been told
        self._ends = True  # the time for which it is off, as far as is known
        self._orders: list[ModelOrder] = []

    @property
    def on(self) -> bool:
        """Whether it may claim."""
        return self.policy is None

    @property
    def frees_memory(self) -> bool:
        """Whether it is off such that its children have to go."""
        return self.policy not in (None, "pause")

    def assume_off(self) -> None:
        """It has just been switched off from here: claim nothing while the database is asked."""
        self.policy, self._asking, self._ask_at = "drain", None, 0.0

    def notified(self, notification: Notification) -> None:
        """A notification, maybe that something is wanted of this worker."""
        if notification.channel == db.WORKER_CONTROL and notification.payload == self._payload:
            self._ask_at = 0.0

    def ask_if_due_before(self, moment: float) -> None:
        """Ask now if it would ask before that moment anyway."""
        if self._ask_at < moment:
            self._ask_at = 0.0

    def heard(self, registered: bool, ordered: bool, now: float) -> None:
        """What the database says while the worker sleeps: whether it knows it, and whether there is
        something to ask for."""
        self.forgotten = not registered
        self._ask_at = 0.0 if ordered else now + HEARD_AGAIN * self.every_s

    def step(self, now: float) -> bool:
        """Ask, if it is time to; whether an answer has changed anything."""
        changed = self._take_answer(now)
        self._take_requests()
        if self._asking is None and self._taking is None and now >= self._ask_at and self._link.up:
            self._ask_at = now + self._wait_s
            self._asking = self._link.send(db.worker_orders(self._worker_id))
            self._taking = self._link.send(db.take_model_requests(self._worker_id))
        return changed

    def next_at(self) -> float:
        """When it asks again."""
        asking = self._asking is not None or self._taking is not None
        return self._ask_at if self._link.up and not asking else float("inf")

    def orders(self) -> list[ModelOrder]:
        """Models that people want loaded or unloaded since last asked."""
        orders, self._orders = self._orders, []
        return orders

    def answer(self, order: ModelOrder, error: str | None) -> None:
        """Such a request has been carried out, or has failed."""
        self._link.send(db.answer_model_request(order.request_id, order.taken_by, error))

    @property
    def _wait_s(self) -> float:
        notified = self.on or (self.hears and not self._ends)
        return self.every_s if notified else min(OFF_ASK_S, self.every_s)

    def _take_answer(self, now: float) -> bool:
        call = self._asking
        if call is None or not call.done:
            return False
        self._asking = None
        if call.failure is not None or not call.rows:
            return False
        row, before = call.rows[0], self._turned
        self.policy = self._turned = None if row["state"] == "on" else row["policy"]
        self._ends = row["until"] is not None
        self._ask_at = min(self._ask_at, now + self._wait_s)
        if self.policy == before:
            return False
        if self.policy is not None:
            why = f": {row['reason']}" if row["reason"] else ""
            until = f" until {row['until']:%H:%M:%S %Z}" if row["until"] else ""
            by = row["requested_by"]
            log.info("%s is off (%s) by %s%s%s", self._payload, self.policy, by, until, why)
        elif before != UNKNOWN:
            log.info("%s is on again", self._payload)
        return True

    def _take_requests(self) -> None:
        call = self._taking
        if call is None or not call.done:
            return
        self._taking = None
        if call.failure is not None:
            self.forgotten = call.failure.sqlstate == NO_SUCH
        self._orders += [
            ModelOrder(row["id"], row["taken_by"], row["action"], row["model"]) for row in call.rows
        ]
