"""Opens the database of an agent: checks its schema, and registers on it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterator

from qwf_agent import __version__
from qwf_agent.agent import db
from qwf_agent.agent.calls import SentCall
from qwf_agent.agent.commands_folder import UnsafeCommands, refuse_inside
from qwf_agent.agent.link import Links
from qwf_agent.agent.options import AgentOptions
from qwf_agent.agent.out_root import OutRootTaken, announce, out_root_of, take_out_root
from qwf_agent.agent.reporter import Reporter
from qwf_agent.agent.settings import Settings, read_settings
from qwf_agent.agent.sleeper import Registration
from qwf_agent.agent.worker import Worker
from qwf_agent.system.exit_codes import MISCONFIGURED, NO_DATABASE
from qwf_agent.system.versions import NO_SCHEMA, compatible_part

log = logging.getLogger("qwf_agent")

ASK_AGAIN_S = 0.2


class StartAborted(Exception):
    """The agent cannot start, or was asked to stop: the exit code, and a message for people."""

    def __init__(self, code: int, message: str = "") -> None:
        super().__init__(message)
        self.code = code


class Opening:
    """Asks the database one question after the other, without waiting.

    Invariant: it registers nothing before the schema was found compatible and all queues are there.
    """

    def __init__(
        self, links: Links, reporter: Reporter, options: AgentOptions,
        infos: Callable[[], dict[str, str]],
    ) -> None:  # fmt: skip
        self.workers: list[Worker] = []  # all of them, once it is done
        self._registered: list[Worker] = []  # so far
        self._ending: list[tuple[Worker, SentCall]] = []
        self.trouble, self.code = "", NO_DATABASE  # what it waits for
        self._links = links
        self._reporter = reporter
        self._options = options
        self._infos = infos
        self._steps = self._open()
        self._asking: SentCall | None = None
        self._at = 0.0

    def step(self, now: float) -> bool:
        """Go on; returns whether it is done. Raises StartAborted."""
        if not self.workers and now >= self._at:
            next(self._steps, None)
        return bool(self.workers)

    def deregister(self) -> list[tuple[Worker, SentCall]]:
        """End the registrations; returns the calls that may be under way."""
        self._ending = [(worker, call) for worker, call in self._ending if not call.done]
        for worker in self._registered:
            query = db.deregister_worker(worker.id)
            self._ending.append((worker, self._links.durable.send(query)))
        self._registered = []
        return self._ending

    def next_at(self) -> float:
        """When it goes on, unless an answer comes first."""
        waits = self.workers or not self._links.durable.up
        waits = waits or (self._asking is not None and not self._asking.done)
        return float("inf") if waits else self._at

    def _open(self) -> Iterator[None]:
        version = (yield from self._ask(db.version())).value()
        if compatible_part(version) != compatible_part(__version__):
            raise StartAborted(
                MISCONFIGURED,
                f"the database has schema version {version}, this agent needs {__version__}",
            )
        self._links.listener.listen(db.WORKER_CONTROL)
        given = []
        for queue in self._options.queues:
            answer = yield from self._ask(db.agent_settings(queue))
            given.append((queue, read_settings(answer.value(), self._options)))
        unwritable = self._take_out_root(given[0][1].instance)
        for queue, settings in given:
            self._registered.append((yield from self._register(queue, settings)))
        for worker in self._registered if unwritable else ():
            log.error("switching %s off for five minutes: %s", worker.queue, unwritable)
            yield from self._ask(db.withdraw_worker(worker.id, unwritable or ""))
            worker.circuit_breaker.on_trial = True
        self.workers = list(self._registered)

    def _register(self, queue: str, settings: Settings) -> Generator[None, None, Worker]:
        """Register this process as a worker on the queue."""
        host, info = self._options.host, self._infos()[queue]
        announced = announce(info, out_root_of(self._options.out_root, settings.instance))
        worker_id = (yield from self._ask(db.register_worker(host, queue, announced))).value()
        channel = (yield from self._ask(db.wake_channel(worker_id))).value()
        self._links.listener.listen(channel)
        return Worker(
            Registration(worker_id, channel, host, queue), settings, self._links,
            self._reporter, self._options, info, time.monotonic(),
        )  # fmt: skip

    def _take_out_root(self, instance: str) -> str | None:
        """Make sure that no other database writes into the folder for files, and that no command
        lies in it; returns why it cannot be written, or None. Raises StartAborted."""
        folder = out_root_of(self._options.out_root, instance)
        try:
            unwritable = take_out_root(folder, instance)
            if self._options.allow_commands is not None:
                refuse_inside(self._options.allow_commands, folder)
        except (OutRootTaken, UnsafeCommands) as error:
            raise StartAborted(MISCONFIGURED, str(error)) from None
        return unwritable

    def _ask(self, query: db.Query) -> Generator[None, None, SentCall]:
        """The answer to a query; waits for the database and the schema. Raises
        StartAborted."""
        while True:
            yield from self._connect()
            call = self._asking = self._links.durable.send(query)
            while not call.done:
                yield
            if call.failure is None:
                return call
            if call.failure.sqlstate in NO_SCHEMA:
                self.code = MISCONFIGURED
                self.trouble = f"no qwf schema, run qwf migrate deploy: {call.failure}"
            elif call.failure.passing:
                self.code, self.trouble = NO_DATABASE, str(call.failure)
            elif not call.failure.lost:
                needed = "; this login needs the role qwf_worker"
                raise StartAborted(
                    MISCONFIGURED,
                    f"{call.failure}{needed if call.failure.sqlstate == '42501' else ''}",
                )
            else:
                continue  # until it is connected again
            self._at = time.monotonic() + ASK_AGAIN_S
            yield

    def _connect(self) -> Iterator[None]:
        """Wait for the connection."""
        while not self._links.durable.up:
            if self._links.durable.trouble is not None:
                self.code = NO_DATABASE
                self.trouble = f"no database: {self._links.durable.trouble}"
            yield
