"""The command of a model server: its process, its port, and the argv `stop` that ends what is not
in its process tree, such as a container."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

from qwf_agent.servers.config import ServerConfig
from qwf_agent.servers.process import ServerOutput, ServerProcess, environment_for, free_port

log = logging.getLogger("qwf_agent")

STOP_S = 30.0  # how long the argv `stop` may take
SLEEP_MODE = {"VLLM_SERVER_DEV_MODE": "1"}  # makes vLLM listen to requests to sleep
PORT_TRIES = 3
PORT_TAKEN = re.compile(r"address already in use|EADDRINUSE|couldn't bind", re.IGNORECASE)
TAIL_BYTES = 4096

Spawn = Callable[[list[str], dict[str, str], list[str]], ServerProcess]


class Program:
    """Runs the command of one server, one process after the other.

    Invariant: `stop` runs once for each process, before or after it has ended.
    """

    def __init__(self, config: ServerConfig, spawn: Spawn, spawn_stop: Spawn | None) -> None:
        """`spawn_stop` starts the argv `stop`, which has to outlive the processes of the server."""
        self.process: ServerProcess | None = None
        self.port: int | None = None
        self.port_tries = 0  # how often in a row the port was taken
        self._config = config
        self._spawn, self._spawn_stop = spawn, spawn_stop or spawn
        self._printed_before = ServerOutput()  # by processes that have ended
        self._environment: dict[str, str] = {}
        self._stop: list[str] = []
        self._stopper: ServerProcess | None = None  # the argv `stop`, while it runs
        self._stop_by = 0.0  # when it is killed
        self._has_stopped = True  # it was run for this process, or there is nothing to stop

    @property
    def exists(self) -> bool:
        """True if a process of it has to be waited for."""
        return self.process is not None or self._stopper is not None

    def has_ended(self) -> bool:
        """True if its process has ended, even if nobody has waited for it yet."""
        return self.process is None or self.process.has_ended()

    def start(self, model: str | None, parallel: int) -> ServerProcess:
        """Start the process, for one model or for all. If the agent is killed before it ends, the
        guardian runs `stop`. Raises OSError."""
        config, self.port = self._config, free_port()
        mode = SLEEP_MODE if config.sleep else {}
        self._environment = {**environment_for(config.card), **mode, **dict(config.env)}
        own = config.model(model) if config.one_at_a_time else None
        self._stop = self._filled(config.stop, model, parallel)
        words = self._filled(config.command + (own.args if own else ()), model, parallel)
        self.process = self._spawn(words, self._environment, self._stop)
        self._has_stopped = not config.stop
        return self.process

    def _filled(self, words: tuple[str, ...], model: str | None, parallel: int) -> list[str]:
        """The words with their placeholders replaced."""
        known = self._config.model(model)
        values = {
            "{port}": str(self.port), "{parallel}": str(parallel),
            "{model}": self._config.served_as(model or ""),
            "{path}": (known.path if known else None) or "",
        }  # fmt: skip
        places = re.compile("|".join(map(re.escape, values)))
        return [places.sub(lambda at: values[at[0]], word) for word in words]

    def wait(self, now: float) -> tuple[int, str] | None:
        """The exit code of its process and the end of what it has printed, once; None while it
        runs. `stop` runs then: a container may outlive the client that has ended."""
        process = self.process
        if process is None or (code := process.wait()) is None:
            return None
        self._printed_before = self._printed_before.then(process.log)
        self._run_stop(now)
        self.process = None
        return code, process.tail(TAIL_BYTES)

    def may_try_other_port(self, tail: str) -> bool:
        """True if it has ended because its port was taken, and may be started again."""
        may_try = self.port_tries < PORT_TRIES and self._stopper is None
        return may_try and PORT_TAKEN.search(tail) is not None

    def end(self, now: float) -> None:
        """Stop it: by the argv `stop`, else by SIGTERM."""
        self._run_stop(now)
        if self.process is not None and not self._config.stop:
            self.process.end()

    def kill(self, now: float) -> None:
        """Kill its process, and run `stop`."""
        if self.process is not None:
            self._run_stop(now)
            self.process.kill()

    def _run_stop(self, now: float) -> None:
        if self._has_stopped:
            return
        try:
            self._stopper = self._spawn_stop(self._stop, self._environment, self._stop)
            self._stop_by = now + STOP_S
        except OSError as error:
            log.warning("server %s: cannot run its stop: %s", self._config.name, error)
        self._has_stopped = True

    def step_stop(self, now: float) -> None:
        """See whether the argv `stop` has ended. The next start waits for that."""
        if self._stopper is None:
            return
        code = self._stopper.wait()
        if code is not None:
            if code:
                log.warning("server %s: its stop ended with exit code %d: %s",
                            self._config.name, code, self._stopper.tail(TAIL_BYTES))  # fmt: skip
            self._stopper = None
        elif now >= self._stop_by:
            log.warning("server %s: its stop has not ended after %g s, and is killed",
                        self._config.name, STOP_S)  # fmt: skip
            self._stopper.kill()
            self._stop_by = float("inf")

    def tail(self) -> str:
        """The end of what its process has printed."""
        return self.process.tail(TAIL_BYTES) if self.process is not None else ""

    def stats(self, log_bytes: int) -> dict[str, Any]:
        """The part of a heartbeat about it, with at most `log_bytes` of what it has printed."""
        process, printed = self.process, self._printed_before
        if process is not None:
            printed = printed.then(process.log)
        return {
            "pid": process.pid if process else None,
            "log": printed.text(log_bytes), "log_bytes": printed.length,
        }  # fmt: skip
