"""The base of all model servers, and the servers that somebody else runs."""

from __future__ import annotations

import json
import logging
import re
import selectors
import time
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from qwf_agent.servers.config import ServerConfig, Url
from qwf_agent.servers.names import Lookup
from qwf_agent.servers.probe import Address, HealthCheck, ServerHealth, ServerPlace
from qwf_agent.servers.process import SENT_BYTES

log = logging.getLogger("qwf_agent")

OFF, STARTING, READY, DRAINING, STOPPING = "off", "starting", "ready", "draining", "stopping"
ASLEEP, FAILED, BROKEN, GONE = "asleep", "failed", "broken", "gone"
CHECK_EXTERNAL_S = 10.0
MISSES = 3  # checks without an answer until a server counts as hung
SHOWN = 5  # names of a long list
ERROR_CHARS, MOST_LACKS = 1000, 10  # of what a heartbeat says


@dataclass
class Demand:
    """Demand of the jobs of the agent for one server: requests in flight, since when the oldest job
    of each model waits, and a number that changes when a request in flight makes progress."""

    inflight: int = 0
    taken: int = 0  # of its places: requests in flight, and jobs that wait for it
    waiting: dict[str, float] = field(default_factory=dict)
    progress: int = 0


class ModelServer(ABC):
    """Base of all servers. Times are on the monotonic clock, in seconds."""

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
        self.no_room_since: float | None = None  # its card has no room for what waits
        self.box = ""  # the host, as operators name it
        self.listed: frozenset[str] | None = None  # models that it has; None: not known
        self.loaded: tuple[str, ...] = ()  # those in memory, of an ollama server
        self.busy = False  # a request is in flight, or a job waits
        self._selector = selector
        self._check: HealthCheck | None = None
        self._check_at = 0.0

    def may_serve(self, model: str) -> bool:
        """Return True if jobs of this model may be sent here, now or after a start."""
        return self.enabled and self.config.model(model) is not None and self.lack(model) is None

    def lack(self, model: str) -> str | None:
        """Why it cannot serve a model of its configuration, whatever its state, and what to do."""
        known_as = self.config.served_as(model)
        if self.listed is None or known_as in self.listed:
            return None
        if self.config.pull:
            return f"{known_as} is not pulled yet: qwf worker load {model} --host {self.box}"
        has = f", but {some_of(self.listed)}" if self.listed else ""
        if self.config.kind == "ollama":
            return (
                f"it does not serve {known_as}{has}: run `ollama pull {known_as}` on the box, "
                "or set pull = true"
            )
        return (
            f"it does not serve {known_as}{has}: correct the name in qwf.toml "
            "(served_as), or serve it there"
        )

    def lacks(self) -> dict[str, str]:
        """The models of its configuration that it cannot serve, each with why."""
        found = {model.name: self.lack(model.name) for model in self.config.models}
        return {name: why for name, why in found.items() if why is not None}

    def is_ready_for(self, model: str) -> bool:
        """Return True if a request for this model can be sent now."""
        return self.state == READY and self.may_serve(model) and self.model in (None, model)

    def is_asleep_with(self, model: str) -> bool:
        """Return True if it has this model, and only has to wake up."""
        return self.state == ASLEEP and self.model in (None, model)

    def is_alive(self, start: int) -> bool:
        """Return True if the process of this start can still answer."""
        return self.starts == start and self.state in (READY, DRAINING)

    def has_ended(self, start: int) -> bool:
        """Return True if the process of this start has ended, even if no step has seen it yet."""
        return not self.is_alive(start)

    @abstractmethod
    def address(self) -> Address | None:
        """Where it listens; None if that is not known."""

    def place(self) -> ServerPlace | None:
        """Where its requests go; None if its address is not known."""
        address = self.address()
        return (
            None if address is None else ServerPlace(address, self.config.url, self.config.api_key)
        )

    def for_child(self, model: str) -> str:
        """Data for the child that runs a job of this model, as JSON."""
        url = self.config.url or Url(False, *(self.address() or ("", 0)))
        return json.dumps({
            "base_url": str(url), "model": self.config.served_as(model), "server": self.config.name,
            "kind": self.config.kind, "api_key": self.config.api_key,
        })  # fmt: skip

    @abstractmethod
    def step(self, now: float, demand: Demand) -> None:
        """Do what is due."""

    def job_ended(self, reason: str | None, _stall_s: float) -> None:
        """Learn how a job ended that used it: one that found it gone lets it be checked soon."""
        if reason == "server":
            self.check_soon()

    def check_soon(self) -> None:
        """Check its health in the next step."""
        self._check_at = 0.0

    def next_at(self) -> float:
        """When it has something to do that cannot wait for the next turn of the loop."""
        return self._check_at if self.state == STARTING and self._check is None else float("inf")

    def stats(self, now: float, _log_bytes: int = SENT_BYTES) -> dict[str, Any]:
        """The part of a heartbeat about it, with at most `_log_bytes` of what it has printed. It
        is short, whatever the server says: a heartbeat that is too long is refused."""
        address, every = self.address(), self.lacks()
        lacks = {name: why[:ERROR_CHARS] for name, why in islice(every.items(), MOST_LACKS)}
        loaded = next(iter(self.loaded), None) if self.state == READY else None
        error = self.error or "; ".join(lacks.values()) or None
        return {
            "name": self.config.name, "state": self.state, "model": self.model or loaded,
            "parallel": self.parallel,
            "port": address[1] if address else None, "pid": None,
            "since_s": round(now - self.since, 1), "starts": self.starts, "crashes": self.crashes,
            "load_s": self.load_s, "error": error and error[:ERROR_CHARS],
            "lacks": lacks,
        }  # fmt: skip

    def _take(self, demand: Demand) -> None:
        self.inflight, self.busy = demand.inflight, bool(demand.inflight or demand.waiting)

    def _enter(self, state: str, now: float) -> None:
        self.state, self.since, self.changed = state, now, True

    def _health(self, now: float, every_s: float, with_models: bool) -> ServerHealth | None:
        """The result of a check that is over now; the next one begins when it is due."""
        place = self.place()
        if self._check is None and (now < self._check_at or place is None):
            return None
        try:
            if self._check is None and place is not None:
                self._check_at = now + every_s
                self._check = HealthCheck(self._selector, place, self.config, with_models, now)
            health = self._check.step(now) if self._check is not None else None
        except OSError as error:
            health = ServerHealth(False, why=f"no socket for a check: {error}")
        if health is not None:
            self._check = None
        return health

    def _learn(self, health: ServerHealth) -> None:
        """Remember which models it has, and which are loaded."""
        if health.models is not None:
            self.changed = self.changed or health.models != self.listed
            self.listed = health.models
            known = {model.name: self.config.served_as(model.name) for model in self.config.models}
            loaded = (name for name, known_as in known.items() if known_as in health.loaded)
            self.loaded = tuple(sorted(loaded, key=lambda name: health.loaded.index(known[name])))

    def _forget_check(self, now: float) -> None:
        if self._check is not None:
            self._check.close()
        self._check, self._check_at = None, now


class ExternalServer(ModelServer):
    """An address that somebody else runs. It is checked, and never started nor stopped."""

    def __init__(self, config: ServerConfig, url: Url, selector: selectors.BaseSelector) -> None:
        super().__init__(config, selector, GONE)
        self._url = url
        self._lookup = Lookup(selector, url.host)
        self._no_key = _why_no_key(config)
        self._misses = 0

    def may_serve(self, model: str) -> bool:
        """Return True if the server has the model, as far as the last check says."""
        return super().may_serve(model) and self.state == READY

    def address(self) -> Address | None:
        """Where it listens; None until its name is looked up."""
        return None if self._lookup.address is None else (self._lookup.address, self._url.port)

    def is_alive(self, _start: int) -> bool:
        """A request finds out by itself whether the server still answers."""
        return True

    def step(self, now: float, demand: Demand) -> None:
        """Check it, if it is time."""
        self._take(demand)
        if self._no_key:
            self.error = self._no_key
            return
        self._lookup.step(now)
        if self._lookup.address is None:
            self.error = f"{self._url.host}: {self._lookup.why}"
            return
        health = self._health(now, CHECK_EXTERNAL_S, with_models=True)
        if health is None:
            return
        self._misses = 0 if health.healthy else self._misses + 1
        if self.state == READY and health.late and self._misses < MISSES:
            return  # it may be busy
        self._learn(health)
        state, self.error = READY if health.healthy else GONE, health.why or None
        if not health.healthy:
            self.listed, self.loaded = None, ()
            if self._lookup.try_next():
                self.check_soon()
        if state != self.state:
            self._enter(state, now)
            said = "; ".join([health.why] if health.why else self.lacks().values())
            log.info("server %s is %s%s", self.config.name, state, f": {said}" if said else "")


def some_of(names: Collection[str]) -> str:
    """The first five names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(sorted(names)[:SHOWN]) + more


def _why_no_key(config: ServerConfig) -> str:
    """Why requests cannot carry the key of the server; empty if they can, or if it has none."""
    if config.api_key_env is None:
        return ""
    if not config.api_key:
        return f"api_key_env: the environment of the agent has no {config.api_key_env}"
    if not re.fullmatch(r"[!-~]+", config.api_key):
        return f"api_key_env: {config.api_key_env} has spaces or signs that no key has"
    return ""
