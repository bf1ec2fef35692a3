"""Wishes of operators for a worker: whether it is on or off, which models to load or unload, and
how its model servers should serve."""

from __future__ import annotations

import logging

from qwf_agent.agent import db
from qwf_agent.agent.calls import Notification, SentCall
from qwf_agent.agent.child_orders import ModelOrder
from qwf_agent.agent.link import Link
from qwf_agent.agent.settings import SHORTEST_S
from qwf_agent.servers.fleet import Orders

log = logging.getLogger("qwf_agent")

OFF_ASK_S = 1.0  # how often to ask while off, if the worker may not be notified of the end
NEXT_ANSWER = 1.5  # heartbeats: by then the next answer to a sleeping worker has arrived
NO_SUCH = "QW001"
UNKNOWN = "unknown"
POLICIES = (None, "pause", UNKNOWN, "drain", "hard")  # the gentlest first


class Answers:
    """Answers to orders to load or unload models. One that was lost with the connection is sent
    again: a pull may end while the database is away. Only the first that arrives counts."""

    def __init__(self) -> None:
        self._sent: list[tuple[Link, SentCall]] = []

    def send(self, order: ModelOrder, error: str | None) -> None:
        """Report that an order was carried out, or why it failed."""
        query = db.answer_model_request(order.request_id, order.taken_by, error)
        self._sent.append((order.link, order.link.send(query)))

    def step(self) -> None:
        """Send again what was lost."""
        sent, self._sent = self._sent, []
        for link, call in sent:
            if call.failure is not None and not call.failure.by_data and link.up:
                self._sent.append((link, link.send(call.query)))
            elif not call.done or (call.failure is not None and not call.failure.by_data):
                self._sent.append((link, call))

    def idle(self) -> bool:
        """Return True if all have arrived."""
        return not self._sent


class Control:
    """Asks the database for a worker's orders: after a notification, and about once per heartbeat,
    except while a sleeping worker learns from its heartbeat that there are none.

    Invariant: `policy` is the last answer of the database: the policy by which the worker is off,
    or None if it is on. Before the first answer the worker is off.
    """

    def __init__(self, worker_id: str, host: str, queue: str, every_s: float, link: Link) -> None:
        self.policy: str | None = UNKNOWN
        self.every_s = every_s  # seconds between two calls if notifications arrive
        self.notifications_arrive = False
        self.servers = Orders()  # what is set for its model servers
        self.unregistered = False  # the database has no such worker any more
        self._worker_id = worker_id
        self._payload = f"{host}:{queue}"
        self._link = link
        self._asking: SentCall | None = None
        self._taking: SentCall | None = None
        self._ask_at = 0.0
        self._asked_at = float("-inf")
        self._applied: str | None = UNKNOWN  # the policy that the agent acts on
        self._ends = True  # whether the order to be off has an end, as far as is known
        self._orders: list[ModelOrder] = []

    @property
    def on(self) -> bool:
        """True if the worker may claim."""
        return self.policy is None

    @property
    def known(self) -> bool:
        """True if the database has answered: before that, `on` says only that it may not claim."""
        return self.policy != UNKNOWN

    @property
    def frees_memory(self) -> bool:
        """True if the worker is off with a policy that ends its children."""
        return self.policy not in (None, "pause")

    def assume_off(self) -> None:
        """Act as switched off until the database answers again: this agent has just asked for
        it."""
        self.policy, self._asking, self._ask_at = "drain", None, 0.0

    def notified(self, notification: Notification) -> None:
        """Ask soon if the notification says that the orders of this worker changed."""
        if notification.channel == db.WORKER_CONTROL and notification.payload == self._payload:
            self._ask_at = min(self._ask_at, self._asked_at + SHORTEST_S)

    def ask_if_due_before(self, moment: float) -> None:
        """Ask now if it would ask before `moment` anyway."""
        if self._ask_at < moment:
            self._ask_at = 0.0

    def take_sleep_answer(self, registered: bool, ordered: bool, now: float) -> None:
        """Take in what the heartbeat of a sleeping worker returned: whether the worker is
        registered, and whether there are orders to ask for."""
        self.unregistered = not registered
        self._ask_at = 0.0 if ordered else now + NEXT_ANSWER * self.every_s

    def step(self, now: float) -> bool:
        """Ask if it is time; returns whether an answer has switched the worker on or off."""
        changed = self._take_answer(now)
        self._take_requests()
        if self._asking is None and self._taking is None and now >= self._ask_at and self._link.up:
            self._asked_at, self._ask_at = now, now + self._wait_s
            self._asking = self._link.send(db.worker_orders(self._worker_id))
            self._taking = self._link.send(db.take_model_requests(self._worker_id))
        return changed

    def next_at(self) -> float:
        """When it asks next."""
        asking = self._asking is not None or self._taking is not None
        return self._ask_at if self._link.up and not asking else float("inf")

    def orders(self) -> list[ModelOrder]:
        """Orders to load or unload models since the last call."""
        orders, self._orders = self._orders, []
        return orders

    @property
    def _wait_s(self) -> float:
        notified = self.on or (self.notifications_arrive and not self._ends)
        return self.every_s if notified else min(OFF_ASK_S, self.every_s)

    def _take_answer(self, now: float) -> bool:
        call = self._asking
        if call is None or not call.done:
            return False
        self._asking = None
        if call.failure is not None or not call.rows:
            return False
        row, before = call.rows[0], self._applied
        self.policy = self._applied = None if row["state"] == "on" else row["policy"]
        self._ends = row["until"] is not None
        idle = row.get("server_idle")
        self.servers = Orders(
            row.get("server"), row.get("parallel"), None if idle is None else idle.total_seconds()
        )
        self._ask_at = min(self._ask_at, now + self._wait_s)
        if self.policy == before:
            return False
        if self.policy is not None:
            why = f": {row['reason']}" if row["reason"] else ""
            until = f" until {row['until']}" if row["until"] else ""
            by = row["login"]
            if row["acting_for"]:
                by += f", acting for {row['acting_for']}"
            log.info("%s is off (%s), by %s%s%s", self._payload, self.policy, by, until, why)
        elif before != UNKNOWN:
            log.info("%s is on again", self._payload)
        return True

    def _take_requests(self) -> None:
        call = self._taking
        if call is None or not call.done:
            return
        self._taking = None
        if call.failure is not None:
            self.unregistered = call.failure.sqlstate == NO_SUCH
        self._orders += [
            ModelOrder(row["id"], row["taken_by"], row["action"], row["model"], self._link)
            for row in call.rows
        ]
