"""Orders of operators to load and unload models that servers serve."""

from __future__ import annotations

import selectors
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from qwf_agent.agent import db
from qwf_agent.agent.child_orders import MODEL_ORDER_S, ModelOrder
from qwf_agent.servers.fleet import ServerFleet
from qwf_agent.servers.ollama import ModelCall
from qwf_agent.servers.own_server import OwnServer
from qwf_agent.servers.server import BROKEN, FAILED, READY, ModelServer

EXTERNAL = "the server is an address of somebody else, it is not stopped from here"
NOT_ON = "the worker is switched off or stops; order it again when it is on"
UNLOADED = "it was ordered to be unloaded meanwhile"
PROGRESS_S = 1.0  # shortest time between two reports of a pull


class Asked(NamedTuple):
    """An order to load a model that its server is started for, and when it came."""

    order: ModelOrder
    server: OwnServer
    at: float


@dataclass
class Called:
    """An order that an ollama server carries out; None: nobody waits for the answer."""

    order: ModelOrder | None
    server: ModelServer
    model: str
    call: ModelCall
    reported: str = ""
    report_at: float = 0.0


class ModelOrders:
    """Carries out the orders. Each that was taken is answered once.

    A load that waits for the start of its server has MODEL_ORDER_S seconds. A pull takes as long as
    it takes; it fails when it stands still for so long.
    """

    def __init__(self, fleet: ServerFleet, selector: selectors.BaseSelector) -> None:
        self._fleet = fleet
        self._selector = selector
        self._asked: list[Asked] = []
        self._called: list[Called] = []
        self._done: list[tuple[ModelOrder, str | None]] = []
        self._freed: set[tuple[str, str]] = set()  # server and model, since it is switched off

    def take(self, order: ModelOrder, now: float) -> bool:
        """Begin to carry out an order, if a server serves its model."""
        if order.model is None:  # the children unload theirs, too, and answer
            self._unload_all(now)
            return False
        servers = [one for one in self._fleet.servers if one.config.model(order.model) is not None]
        if not servers:
            return False
        servers.sort(key=lambda one: not one.config.pull)
        server = (self._fleet.choice(order.model) or servers)[0]
        if order.action == "load":
            self._load(order, server, now)
        else:
            for other in self._fleet.own:
                if other is not server and other.model == order.model:
                    other.drain(now)
            self._unload(order, order.model, server, now)
        return True

    def take_done(self) -> list[tuple[ModelOrder, str | None]]:
        """The orders that have ended since the last call, each with its error or None."""
        done, self._done = self._done, []
        return done

    def idle(self) -> bool:
        """Return True if there is no order."""
        return not (self._asked or self._called or self._done)

    def wanted(self) -> Iterator[tuple[str, ModelServer, float]]:
        """The models that servers have to run for, and since when."""
        for order, server, at in self._asked:
            if not server.is_ready_for(str(order.model)):
                yield str(order.model), server, at
        for one in self._called:
            yield one.model, one.server, float("inf")

    def step(self, now: float, on: bool, off: bool = False) -> None:
        """Answer the orders that have ended, and report how far the others are. Unless the worker
        is `on`, all end. While it is switched `off`, the models of external ollama servers are
        unloaded, each once: others may use such a server, and load theirs again."""
        if off:
            self._free(now)
        else:
            self._freed.clear()
        asked, self._asked = self._asked, []
        for one in asked:
            self._step_asked(one, now, on)
        called, self._called = self._called, []
        for call in called:
            self._step_called(call, now, on)

    def _load(self, order: ModelOrder, server: ModelServer, now: float) -> None:
        model, ollama = str(order.model), server.config.kind == "ollama"
        lack = server.lack(model)
        if isinstance(server, OwnServer) and (lack is None or ollama):
            server.failures.retry_soon()
            self._asked.append(Asked(order, server, now))
        elif ollama and server.state == READY:
            self._call(order, server, model, now)
        elif server.is_ready_for(model):
            self._done.append((order, None))
        else:
            state = server.state if server.enabled else "not chosen"
            self._done.append((order, lack or server.error or f"the server is {state}"))

    def _unload(self, order: ModelOrder, model: str, server: ModelServer, now: float) -> None:
        self._end_loads(model)
        if server.config.kind == "ollama":
            if server.state == READY and server.lack(model) is None:
                self._call(order, server, model, now, unload=True)
            else:  # nothing is loaded, or nobody can say
                self._done.append((order, server.error if server.config.external else None))
        elif isinstance(server, OwnServer):
            if server.model in (None, model):
                server.drain(now)
            self._done.append((order, None))
        else:
            self._done.append((order, EXTERNAL))

    def _unload_all(self, now: float) -> None:
        for model in {one.model for one in self._called} | {one.order.model for one in self._asked}:
            self._end_loads(str(model))
        for server in self._fleet.servers:
            if isinstance(server, OwnServer):
                server.drain(now)
            else:
                for model in server.loaded if server.state == READY else ():
                    self._call(None, server, model, now, unload=True)

    def _free(self, now: float) -> None:
        """Unload what is loaded at addresses that no job of this agent uses any more."""
        for server in self._fleet.servers:
            name = server.config.name
            if server.inflight:  # its jobs may load what was unloaded
                self._freed = {one for one in self._freed if one[0] != name}
            elif server.config.external and server.state == READY:
                for model in server.loaded:
                    if (name, model) not in self._freed:
                        self._freed.add((name, model))
                        self._call(None, server, model, now, unload=True)

    def _call(
        self, order: ModelOrder | None, server: ModelServer, model: str, now: float,
        unload: bool = False,
    ) -> None:  # fmt: skip
        """Let an ollama server carry out the order. A model that it lacks is pulled, if it may."""
        lack = server.lack(model)
        error = lack if lack and not server.config.pull and not unload else None
        place = server.place()
        try:
            if error is None and place is not None:
                call = ModelCall(self._selector, place, server.config.served_as(model), now,
                                 MODEL_ORDER_S, bool(lack) and not unload, unload)  # fmt: skip
                self._called.append(Called(order, server, model, call))
                return
        except OSError as no_socket:
            error = f"no socket to ask the server: {no_socket}"
        if order is not None:
            self._done.append((order, error or "the server has no address"))

    def _end_loads(self, model: str) -> None:
        """End the orders to load a model: it was ordered to be unloaded."""
        for one in self._asked:
            if one.order.model == model:
                self._done.append((one.order, UNLOADED))
        self._asked = [one for one in self._asked if one.order.model != model]
        for called in self._called:
            if called.model == model and not (called.call.unloads or called.call.over):
                called.call.close()
                called.call.error = UNLOADED

    def _step_asked(self, asked: Asked, now: float, on: bool) -> None:
        order, server, at = asked
        if not on:
            self._done.append((order, NOT_ON))
        elif server.state == READY and server.config.kind == "ollama":
            self._call(order, server, str(order.model), now)
        elif server.is_ready_for(str(order.model)):
            self._done.append((order, None))
        elif server.state in (FAILED, BROKEN) and not server.failures.retries_now:
            self._done.append((order, server.error))
        elif now >= at + MODEL_ORDER_S:
            self._done.append((order, server.error or f"not ready within {MODEL_ORDER_S:g} s"))
        else:
            self._asked.append(asked)

    def _step_called(self, one: Called, now: float, on: bool) -> None:
        call, order = one.call, one.order
        try:
            call.step(now)
        except OSError as error:
            call.close()
            call.error = f"no socket to ask the server: {error}"
        if not on and not call.over and not (call.unloads and one.order is None):
            call.close()
            call.error = NOT_ON
        if call.over:
            one.server.check_soon()
            if order is not None:
                self._done.append((order, call.error))
            return
        if order is not None and call.progress != one.reported and now >= one.report_at:
            one.reported, one.report_at = call.progress, now + PROGRESS_S
            order.link.send(
                db.answer_model_request(order.request_id, order.taken_by, progress=call.progress)
            )
        self._called.append(one)
