"""One model server: the states that it goes through, and why."""

from __future__ import annotations

import json
import logging
import re
import selectors
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from qwf_agent.servers.config import ServerConfig
from qwf_agent.servers.names import Lookup
from qwf_agent.servers.probe import Address, Health, HealthCheck
from qwf_agent.servers.process import ServerProcess, environment_for, free_port

log = logging.getLogger("qwf_agent")

OFF, STARTING, READY, DRAINING, STOPPING = "off", "starting", "ready", "draining", "stopping"
FAILED, BROKEN, GONE = "failed", "broken", "gone"
CHECK_START_S, CHECK_READY_S, CHECK_EXTERNAL_S = 0.25, 5.0, 10.0
MISSES = 3  # checks without an answer until a server counts as hung
END_S = 10.0  # between SIGTERM and SIGKILL
LONGEST_WAIT_S = 60.0  # before it is started again
STEADY_S = 60.0  # a server that was ready for so long has started well
BROKEN_FAILURES, BROKEN_WINDOW_S, BROKEN_RETRY_S = 5, 600.0, 300.0
PORT_TRIES = 3
PORT_TAKEN = re.compile(r"address already in use|EADDRINUSE|couldn't bind", re.IGNORECASE)
ERROR_BYTES, TAIL_BYTES = 400, 4096

Spawn = Callable[[list[str], dict[str, str]], ServerProcess]


@dataclass
class Demand:
    """What the jobs of the agent want of one server: requests in flight, since when the oldest job
    of each model waits, and a number that changes when a request in flight makes progress."""

    inflight: int = 0
    waiting: dict[str, float] = field(default_factory=dict)
    progress: int = 0


class Server(ABC):
    """What all servers have in common. Times are on the monotonic clock, in seconds."""

    def __init__(self, config: ServerConfig, selector: selectors.BaseSelector, state: str) -> None:
        self.config = config
        self.enabled = True  # operators want it to serve
        self.parallel = config.parallel
        self.idle_s = config.idle
        self.state = state
        self.since = time.monotonic()
        self.model: str | None = None  # the one that it serves; None: all of its models
        self.error: str | None = None
        self.changed = True  # it has changed its state since somebody last looked
        self.starts = self.crashes = 0
        self.load_s: float | None = None
        self.inflight = 0
        self.busy = False  # a request is in flight, or a job waits
        self._selector = selector
        self._check: HealthCheck | None = None
        self._check_at = 0.0

    def may_serve(self, model: str) -> bool:
        """Whether jobs of this model may be sent here, now or after a start."""
        return self.enabled and self.config.model(model) is not None

    def is_ready_for(self, model: str) -> bool:
        """Whether a request for this model can be sent now."""
        return self.state == READY and self.may_serve(model) and self.model in (None, model)

    def is_alive(self, start: int) -> bool:
        """Whether the process of this start can still answer."""
        return self.starts == start and self.state in (READY, DRAINING)

    def has_ended(self, start: int) -> bool:
        """Whether the process of this start has ended, even if no step has seen it yet."""
        return not self.is_alive(start)

    @abstractmethod
    def address(self) -> Address | None:
        """Where it listens; None if that is not known."""

    def for_child(self, model: str) -> str:
        """What the child that runs a job of this model gets, as JSON."""
        host, port = self.config.address or self.address() or ("", 0)
        host = f"[{host}]" if ":" in host else host
        return json.dumps({
            "base_url": f"http://{host}:{port}", "model": model, "server": self.config.name,
            "kind": self.config.kind, "api_key": None,
        })  # fmt: skip

    @abstractmethod
    def step(self, now: float, demand: Demand) -> None:
        """Do what is due."""

    def check_soon(self) -> None:
        """Check its health in the next step: a request found it gone."""
        self._check_at = 0.0

    def next_at(self) -> float:
        """When it has something to do that cannot wait for the next turn of the loop."""
        return self._check_at if self.state == STARTING and self._check is None else float("inf")

    def stats(self, now: float) -> dict[str, Any]:
        """What a heartbeat reports about it."""
        address = self.address()
        return {
            "name": self.config.name, "state": self.state, "model": self.model,
            "parallel": self.parallel,
            "port": address[1] if address else None, "pid": None,
            "since_s": round(now - self.since, 1), "starts": self.starts, "crashes": self.crashes,
            "load_s": self.load_s, "error": self.error,
        }  # fmt: skip

    def _take(self, demand: Demand) -> None:
        self.inflight, self.busy = demand.inflight, bool(demand.inflight or demand.waiting)

    def _enter(self, state: str, now: float) -> None:
        self.state, self.since, self.changed = state, now, True

    def _health(self, now: float, every_s: float, with_models: bool) -> Health | None:
        """What a check found that is over now; the next one begins when it is due."""
        address = self.address()
        if self._check is None and (now < self._check_at or address is None):
            return None
        try:
            if self._check is None and address is not None:
                self._check_at = now + every_s
                self._check = HealthCheck(self._selector, address, self.config, with_models, now)
            health = self._check.step(now) if self._check is not None else None
        except OSError as error:
            health = Health(False, why=f"no socket for a check: {error}")
        if health is not None:
            self._check = None
        return health

    def _forget_check(self, now: float) -> None:
        if self._check is not None:
            self._check.close()
        self._check, self._check_at = None, now


class ExternalServer(Server):
    """An address that somebody else runs. It is checked, and never started nor stopped."""

    def __init__(self, config: ServerConfig, selector: selectors.BaseSelector) -> None:
        super().__init__(config, selector, GONE)
        self._named: frozenset[str] = frozenset()
        self._host, self._port = config.address or ("", 0)
        self._lookup = Lookup(selector, self._host)

    def may_serve(self, model: str) -> bool:
        """Whether the server has the model, as far as the last check says."""
        return super().may_serve(model) and self.state == READY and model in self._named

    def address(self) -> Address | None:
        """Where it listens; None until its name is looked up."""
        return None if self._lookup.address is None else (self._lookup.address, self._port)

    def is_alive(self, _start: int) -> bool:
        """A request finds out by itself whether the server still answers."""
        return True

    def step(self, now: float, demand: Demand) -> None:
        """Check it, if it is time."""
        self._take(demand)
        self._lookup.step(now)
        if self._lookup.address is None:
            self.error = f"{self._host}: {self._lookup.why}"
            return
        health = self._health(now, CHECK_EXTERNAL_S, with_models=True)
        if health is None:
            return
        if health.models is not None and health.models != self._named:
            self._named, self.changed = health.models, True
        state = READY if health.healthy else GONE
        missing = [model.name for model in self.config.models if model.name not in self._named]
        self.error = health.why or (f"it does not serve {', '.join(missing)}" if missing else None)
        if state != self.state:
            self._enter(state, now)
            log.info("server %s is %s%s", self.config.name, state,
                     f": {self.error}" if self.error else "")  # fmt: skip


class OwnServer(Server):
    """A server that the agent starts and stops.

    Invariant: there is a process in the states starting, ready, draining and stopping, and none in
    off and broken. A failed one was killed, and may take a moment to end.
    """

    def __init__(
        self, config: ServerConfig, selector: selectors.BaseSelector, spawn: Spawn
    ) -> None:
        super().__init__(config, selector, OFF)
        self.broken = False  # it failed too often, and has not been ready since
        self.keep = False  # do not stop it because it is idle
        self.idle_since = 0.0
        self.next_model: str | None = None  # the one to start with after the end of this process
        self._spawn = spawn
        self._process: ServerProcess | None = None
        self._stopper: ServerProcess | None = None  # the argv `stop`, while it runs
        self._port: int | None = None
        self._port_tries = 0
        self._timeout_s = 0.0
        self._at = float("inf")  # when a start, an end or a pause is over
        self._failures: deque[float] = deque()
        self._in_a_row = 0
        self._misses = self._progress = 0
        self._unhealthy = ""  # why it was not ready at the last check

    def address(self) -> Address | None:
        """Where it listens, while it has a process."""
        return None if self._port is None else ("127.0.0.1", self._port)

    def may_serve(self, model: str) -> bool:
        """Whether jobs of this model may be sent here, now or after a start."""
        return super().may_serve(model) and not self.broken

    def has_ended(self, start: int) -> bool:
        """Whether the process of this start has ended, even if no step has seen it yet."""
        return super().has_ended(start) or self._process is None or self._process.has_ended()

    @property
    def may_start(self) -> bool:
        """Whether it is down, and no pause after a failure keeps it down."""
        return self.state == OFF

    @property
    def has_process(self) -> bool:
        """Whether a process of it has to be waited for."""
        return self._process is not None or self._stopper is not None

    def stats(self, now: float) -> dict[str, Any]:
        """What a heartbeat reports about it."""
        return {**super().stats(now), "pid": self._process.pid if self._process else None}

    def vram_mb(self, model: str | None) -> int:
        """What it needs of its card while it serves this model, or all of them."""
        models = [self.config.model(model)] if model is not None else self.config.models
        return sum(one.vram_mb or 0 for one in models if one is not None)

    def wanted(self, demand: Demand) -> str | None:
        """The model that waits longest for it, of those that it may serve."""
        waiting = {name: at for name, at in demand.waiting.items() if self.may_serve(name)}
        if self.next_model in waiting:
            return self.next_model
        return min(waiting, key=lambda name: waiting[name]) if waiting else None

    # What others order.

    def start(self, model: str, now: float, timeout_s: float) -> None:
        """Start it for this model."""
        self.next_model, self._port_tries = None, 0
        self.model = model if self.config.one_at_a_time or len(self.config.models) == 1 else None
        self._timeout_s = self.config.start_timeout or timeout_s
        self._launch(now)

    def drain(self, now: float, next_model: str | None = None) -> None:
        """Take no more requests, and stop when none is in flight."""
        if self.state in (STARTING, READY):
            self.next_model = next_model
            self._enter(DRAINING, now)
        elif self.state == FAILED and self._process is None:
            self._enter(OFF, now)

    def kill(self, now: float) -> None:
        """Stop it now."""
        if self._process is not None:
            self._kill_process()
            if self.state not in (STOPPING, BROKEN):
                self._enter(STOPPING, now)
        elif self.state == FAILED:
            self._enter(OFF, now)

    def retry_soon(self) -> None:
        """Do not wait for the end of a pause after a failure."""
        if self.state in (FAILED, BROKEN):
            self._at = 0.0

    @property
    def retries_now(self) -> bool:
        """Whether such a pause was just ended."""
        return self._at == 0.0

    # What happens by itself.

    def step(self, now: float, demand: Demand) -> None:
        """See whether its process has ended, check its health, and do what is due."""
        if self.inflight and not demand.inflight:
            self.idle_since = now
        self._take(demand)
        if self._stopper is not None and self._stopper.wait() is not None:
            self._stopper = None
        if self._process is not None and (code := self._process.wait()) is not None:
            self._on_exit(code, self._process.tail(TAIL_BYTES), now)
        elif self.state == STARTING:
            self._step_start(now)
        elif self.state == READY:
            self._step_ready(now, demand)
        elif self.state == DRAINING and not demand.inflight:
            self._end(now)
        elif self.state == STOPPING and now >= self._at and self._process is not None:
            self._at = float("inf")
            self._kill_process()
        elif self.state == FAILED and now >= self._at and self._process is None:
            self._enter(OFF, now)

    def due_for_retry(self, now: float) -> bool:
        """Whether it is broken and it is time to see whether it still is."""
        return self.state == BROKEN and now >= self._at and self._process is None

    def _launch(self, now: float) -> None:
        self._forget_check(now)
        self._unhealthy = "not checked yet"
        self.starts += 1
        self._at = now + self._timeout_s
        self._enter(STARTING, now)
        try:
            self._port = free_port()
            model = self.config.model(self.model) if self.config.one_at_a_time else None
            args = model.args if model else ()
            self._process = self._run(self.config.command + args)
        except OSError as error:
            self._fail(f"no process: {error}", "", now)
            return
        what = f" with {self.model}" if self.model else ""
        log.info("server %s starts%s: pid %d, port %d", self.config.name, what,
                 self._process.pid, self._port)  # fmt: skip

    def _run(self, words: tuple[str, ...]) -> ServerProcess:
        """Run an argv of the configuration. Raises OSError."""
        model = self.config.model(self.model)
        values = {
            "{port}": str(self._port), "{parallel}": str(self.parallel),
            "{model}": self.model or "", "{path}": (model.path if model else None) or "",
        }  # fmt: skip
        places = re.compile("|".join(map(re.escape, values)))
        argv = [places.sub(lambda at: values[at[0]], word) for word in words]
        return self._spawn(argv, environment_for(self.config.card))

    def _step_start(self, now: float) -> None:
        health = self._health(now, CHECK_START_S, with_models=True)
        if health is not None:
            self._unhealthy = health.why
        if health is not None and health.models is not None:
            wanted = {self.model} if self.model else {one.name for one in self.config.models}
            if wanted <= health.models:
                self._become_ready(now)
            else:
                serves = ", ".join(sorted(health.models)) or "nothing"
                self._fail(f"serves {serves}, not {', '.join(sorted(map(str, wanted)))}",
                           self._printed(), now)  # fmt: skip
        elif now >= self._at:
            self._fail(
                f"not ready within {self._timeout_s:g} s: {self._unhealthy}", self._printed(), now
            )

    def _become_ready(self, now: float) -> None:
        self.load_s = round(now - self.since, 3)
        self.error, self.broken = None, False
        self._misses, self._check_at, self.idle_since = 0, now + CHECK_READY_S, now
        self._enter(READY, now)
        log.info("server %s is ready after %.1f s", self.config.name, self.load_s)

    def _step_ready(self, now: float, demand: Demand) -> None:
        if self._in_a_row and now >= self.since + STEADY_S:
            self._in_a_row = 0
        health = self._health(now, CHECK_READY_S, with_models=False)
        if health is not None:
            progressed = self._misses and demand.progress != self._progress
            self._misses = 0 if health.healthy or progressed else self._misses + 1
            self._progress = demand.progress
            if self._misses >= MISSES:
                self._fail(f"no answer to {MISSES} checks: {health.why}", self._printed(), now)
                return
        if not self.busy and not self.keep and self.idle_s and now >= self.idle_since + self.idle_s:
            self._end(now)

    def _end(self, now: float) -> None:
        """Begin to stop: by the argv of the configuration, else by SIGTERM; SIGKILL comes later."""
        self._forget_check(now)
        self._in_a_row = 0
        self._at = now + END_S
        self._enter(STOPPING, now)
        log.info("server %s stops", self.config.name)
        if self._process is not None and not self._run_stop():
            self._process.end()

    def _run_stop(self) -> bool:
        """Run the argv that stops what is not in the process tree, such as a container; returns
        whether there is one."""
        if self.config.stop and self._stopper is None:
            try:
                self._stopper = self._run(self.config.stop)
            except OSError as error:
                log.warning("server %s: cannot run its stop: %s", self.config.name, error)
        return bool(self.config.stop)

    def _kill_process(self) -> None:
        if self._process is not None:
            self._run_stop()
            self._process.kill()

    def _on_exit(self, code: int, tail: str, now: float) -> None:
        """Its process has ended, and so has its tree."""
        state, self._process = self.state, None
        self._forget_check(now)
        if state == STARTING and PORT_TAKEN.search(tail) and self._port_tries < PORT_TRIES:
            self._port_tries += 1
            log.info("server %s: port %s was taken, trying another", self.config.name, self._port)
            self._launch(now)
            return
        self._port = None
        if state == STOPPING or (state == DRAINING and not self.inflight):
            self.model, self._at = None, now + BROKEN_RETRY_S
            self._enter(BROKEN if self.broken else OFF, now)
        elif state not in (FAILED, BROKEN):
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            self._fail(how if state != STARTING else f"{how} at its start", tail, now)

    def _fail(self, why: str, tail: str, now: float) -> None:
        """It does not work: kill what there is of it, and start it again after a pause."""
        self._kill_process()
        self._forget_check(now)
        self._port, self.model = None, None
        self.crashes += 1
        self._in_a_row += 1
        self._failures.append(now)
        while self._failures[0] < now - BROKEN_WINDOW_S:
            self._failures.popleft()
        last = tail if len(tail) <= ERROR_BYTES else tail[-ERROR_BYTES:].partition("\n")[2]
        self.error = f"{why}\n{last}" if last else why
        self.broken = self.broken or max(len(self._failures), self._in_a_row) >= BROKEN_FAILURES
        wait_s = BROKEN_RETRY_S if self.broken else min(2.0 ** (self._in_a_row - 1), LONGEST_WAIT_S)
        self._at = now + wait_s
        self._enter(BROKEN if self.broken else FAILED, now)
        log.warning("server %s %s, trying again in %g s: %s%s", self.config.name,
                    "is broken" if self.broken else "failed", wait_s, why,
                    f"\n{tail}" if tail else "")  # fmt: skip

    def _printed(self) -> str:
        return self._process.tail(TAIL_BYTES) if self._process is not None else ""
