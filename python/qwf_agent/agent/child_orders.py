"""The orders to load and unload models that the child of one slot has to carry out."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from qwf_agent.agent.link import Link
from qwf_agent.child.messages import FIRST_ORDER_TICKET, Garbled, Message

MODEL_ORDER_S = 1200.0  # longest time for loading a model on request


class ModelOrder(NamedTuple):
    """An order to load or unload a model, with the id of the request and the worker that took it:
    the answer to the database needs both, and goes over `link`."""

    request_id: int
    taken_by: str
    action: str
    model: str | None
    link: Link


class ChildOrders:
    """The orders of one slot, from the operator's request to the answer of the child.

    Invariant: each order ends once, with the answer of a child or with its death.
    """

    def __init__(self) -> None:
        self.waiting: deque[ModelOrder] = deque()  # for the end of the jobs of the child
        self._sent: dict[int, ModelOrder] = {}  # by ticket
        self._done: list[tuple[ModelOrder, str | None]] = []

    @property
    def are_under_way(self) -> bool:
        """True if the child has to answer some."""
        return bool(self._sent)

    def exist(self) -> bool:
        """True if the child has to load or unload a model before it gets another job."""
        return bool(self.waiting or self._sent)

    def send_next(self, ticket: int) -> Message:
        """The message to the child with the order that waits longest."""
        ticket += FIRST_ORDER_TICKET
        order = self._sent[ticket] = self.waiting.popleft()
        return (ticket, order.action, order.model)

    def take_answer(self, ticket: int, error: str | None) -> None:
        """Take in the answer of the child. Raises Garbled."""
        if ticket not in self._sent:
            raise Garbled(f"an answer to the order {ticket}, which it does not have")
        self._done.append((self._sent.pop(ticket), error))

    def child_died(self) -> None:
        """End the orders that the child had."""
        self._done += [(order, "its process died") for order in self._sent.values()]
        self._sent.clear()

    def take_done(self) -> list[tuple[ModelOrder, str | None]]:
        """The orders that have ended since the last call, each with its error or None."""
        done, self._done = self._done, []
        return done
