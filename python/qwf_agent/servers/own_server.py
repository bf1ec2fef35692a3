"""A model server that the agent starts and stops: the states that it goes through, and why."""

from __future__ import annotations

import logging
import re
import selectors
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from qwf_agent.servers.cards import Resident
from qwf_agent.servers.config import ServerConfig
from qwf_agent.servers.model_files import missing_file
from qwf_agent.servers.probe import Address
from qwf_agent.servers.process import (
    SENT_BYTES,
    Printed,
    ServerProcess,
    environment_for,
    free_port,
)
from qwf_agent.servers.server import (
    ASLEEP,
    BROKEN,
    DRAINING,
    FAILED,
    MISSES,
    OFF,
    READY,
    STARTING,
    STOPPING,
    Demand,
    Server,
    some_of,
)
from qwf_agent.servers.sleep import SLEEP, WAKE, Sleep
from qwf_agent.servers.trust import Trust

log = logging.getLogger("qwf_agent")

CHECK_START_S, CHECK_READY_S, CHECK_FILES_S = 0.25, 5.0, 10.0
END_S = 10.0  # between SIGTERM and SIGKILL
STOP_S = 30.0  # how long the argv `stop` may take
LONGEST_WAIT_S = 60.0  # before it is started again
STEADY_S = 60.0  # a server that was ready for so long has started well
BROKEN_FAILURES, BROKEN_WINDOW_S, BROKEN_RETRY_S = 5, 600.0, 300.0
SLEEP_MODE = {"VLLM_SERVER_DEV_MODE": "1"}  # makes vLLM listen to requests to sleep
PORT_TRIES = 3
PORT_TAKEN = re.compile(r"address already in use|EADDRINUSE|couldn't bind", re.IGNORECASE)
ERROR_BYTES, TAIL_BYTES = 400, 4096
LINE_CHARACTERS = 300  # of the last line that a server has printed

Spawn = Callable[[list[str], dict[str, str], list[str]], ServerProcess]


class OwnServer(Server):
    """A server that the agent starts and stops.

    Invariant: there is a process in the states starting, ready, draining, asleep and stopping, and
    none in off and broken. A failed one was killed, and may take a moment to end. A request to
    sleep is under way only while it is draining, one to wake up only while it is starting.
    """

    def __init__(
        self, config: ServerConfig, selector: selectors.BaseSelector, spawn: Spawn,
        spawn_stop: Spawn | None = None,
    ) -> None:  # fmt: skip
        """`spawn_stop` starts the argv `stop`, which has to outlive the processes of the server."""
        super().__init__(config, selector, OFF)
        self.broken = False  # it failed too often, and has not been ready since
        self.keep = False  # do not stop it because it is idle
        self.too_big: dict[str, str] = {}  # models for which its card is too small, each with why
        self.idle_since = 0.0
        self.next_model: str | None = None  # the one to start with after the end of this process
        self._spawn, self._spawn_stop = spawn, spawn_stop or spawn
        self._sleep = Sleep(selector, config.sleep)
        self._to_sleep = False  # what it is draining for; else it is stopped then
        self._awake = True  # its model is on the card
        self._process: ServerProcess | None = None
        self._printed_before = Printed()  # by processes that have ended
        self._stopper: ServerProcess | None = None  # the argv `stop`, while it runs
        self._stop_by = 0.0  # when it is killed
        self._has_stopped = True  # it was run for this process, or there is nothing to stop
        self._port: int | None = None
        self._port_tries = 0
        self._timeout_s = 0.0
        self._at = float("inf")  # when a start, an end or a pause is over
        self._failures: deque[float] = deque()
        self._in_a_row = 0
        self._misses = self._progress = 0
        self._trust = Trust()
        self._unhealthy = ""  # why it was not ready at the last check
        self._missing: dict[str, str] = {}  # the file that is missing for a model
        self._files_at = 0.0  # when to look again

    def address(self) -> Address | None:
        """Where it listens, while it has a process."""
        return None if self._port is None else ("127.0.0.1", self._port)

    def may_serve(self, model: str) -> bool:
        """Whether jobs of this model may be sent here, now or after a start."""
        return super().may_serve(model) and not self.broken

    def is_ready_for(self, model: str) -> bool:
        """Whether a request for this model can be sent now."""
        return super().is_ready_for(model) and self._trust.holds

    def lack(self, model: str) -> str | None:
        """Why it cannot serve a model of its configuration, and what to do."""
        file = self._missing.get(model)
        if file is not None:
            return f"{file} is missing: download it, or correct path in qwf.toml"
        return self.too_big.get(model) or super().lack(model)

    def has_ended(self, start: int) -> bool:
        """Whether the process of this start has ended, even if no step has seen it yet."""
        return super().has_ended(start) or self._process is None or self._process.has_ended()

    @property
    def has_process(self) -> bool:
        """Whether a process of it has to be waited for."""
        return self._process is not None or self._stopper is not None

    def stats(self, now: float, _log_bytes: int = SENT_BYTES) -> dict[str, Any]:
        """What a heartbeat reports about it, with at most `_log_bytes` of what it has printed."""
        process, printed = self._process, self._printed_before
        if process is not None:
            printed = printed.then(process.log)
        paused = self.state in (FAILED, BROKEN)
        return {
            **super().stats(now), "pid": process.pid if process else None,
            "retry_s": round(max(0.0, self._at - now), 1) if paused else None,
            "log": printed.text(_log_bytes), "log_bytes": printed.length,
        }  # fmt: skip

    def vram_mb(self, model: str | None) -> int:
        """What it needs of its card while it serves this model, or all of them; the most that it
        may need if it has one at a time and that is not known."""
        models = [self.config.model(model)] if model is not None else self.config.models
        sizes_mb = [one.vram_mb or 0 for one in models if one is not None]
        return max(sizes_mb, default=0) if self.config.one_at_a_time else sum(sizes_mb)

    @property
    def held_mb(self) -> int:
        """The estimate of what its process has of its card now. What is left of one that is asleep
        is some hundred MB, and in no estimate."""
        return self.vram_mb(self.model) if self._process is not None and self._awake else 0

    def resident(self, now: float) -> Resident:
        """What it is on its card."""
        return Resident(
            self, self.config.card, self.held_mb, self.busy, self.since, self.load_s or 0.0,
            partial(self.give_way, now), loading=self.state == STARTING,
            leaving=self.state not in (STARTING, READY, ASLEEP),
        )  # fmt: skip

    def wanted(self, demand: Demand) -> str | None:
        """The model that waits longest for it, of those that it may serve."""
        # One that it lacks is among them only if an operator has ordered that it is pulled.
        waiting = demand.waiting if self.enabled and not self.broken else {}
        if self.next_model in waiting:
            return self.next_model
        return min(waiting, key=lambda name: waiting[name]) if waiting else None

    def model_to_try(self) -> str:
        """The model to see with whether it is still broken: another one at each start."""
        names = [model.name for model in self.config.models]
        whole = [name for name in names if self.lack(name) is None] or names
        return whole[self.starts % len(whole)]

    # What others order.

    def start(self, model: str, now: float, timeout_s: float) -> None:
        """Start it for this model."""
        self.next_model, self._port_tries = None, 0
        self.model = model if self.config.one_at_a_time or len(self.config.models) == 1 else None
        self._timeout_s = self.config.start_timeout or timeout_s
        self._launch(now)

    def wake(self, now: float, timeout_s: float) -> None:
        """Wake it up, if it is asleep."""
        self._timeout_s = self.config.start_timeout or timeout_s
        self._at = now + self._timeout_s
        self._unhealthy, self._awake = "not checked yet", True
        self._enter(STARTING, now)
        log.info("server %s wakes up", self.config.name)
        self._ask_to(WAKE, now)

    def give_way(self, now: float) -> None:
        """Free its memory when no request is in flight: sleep if it can, else stop."""
        if self.state == READY and self._sleep.possible:
            self._enter(DRAINING, now)
            self._to_sleep = True
        else:
            self.drain(now)

    def drain(self, now: float, next_model: str | None = None) -> None:
        """Take no more requests, and stop when none is in flight."""
        if self.state in (STARTING, READY, ASLEEP):
            self.next_model = next_model
            self._enter(DRAINING, now)
        self._to_sleep = False
        if self.state == FAILED and self._process is None:
            self._enter(OFF, now)

    def kill(self, now: float) -> None:
        """Stop it now."""
        if self._process is not None:
            self._kill_process(now)
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

    def job_ended(self, reason: str | None, stall_s: float) -> None:
        """Learn how a job ended that used it, and that may be silent for `stall_s`."""
        super().job_ended(reason, stall_s)
        self._trust.job_ended(reason, stall_s)

    # What happens by itself.

    def step(self, now: float, demand: Demand) -> None:
        """See whether its process has ended, check its health, and do what is due."""
        if self.inflight and not demand.inflight:
            self.idle_since = now
        self._take(demand)
        if now >= self._files_at:
            self._look_for_files(now)
        self._step_stop(now)
        if self._process is not None and (code := self._process.wait()) is not None:
            self._printed_before = self._printed_before.then(self._process.log)
            self._on_exit(code, self._process.tail(TAIL_BYTES), now)
        elif self.state == STARTING:
            self._step_start(now)
        elif self.state == READY:
            self._step_ready(now, demand)
        elif self.state == DRAINING:
            self._step_drained(now)
        elif self.state == STOPPING and now >= self._at and self._process is not None:
            self._at = float("inf")
            self._kill_process(now)
        elif self.state == FAILED and now >= self._at and not self.has_process:
            self._enter(OFF, now)

    def _look_for_files(self, now: float) -> None:
        """See which models have all their files. Only at first, after a failure, and while one is
        missing: a disk of the network that hangs would make the agent wait."""
        found = {one.name: missing_file(one.path) for one in self.config.models if one.path}
        missing = {name: file for name, file in found.items() if file is not None}
        self._files_at = now + CHECK_FILES_S if missing else float("inf")
        if missing != self._missing:
            self._missing, self.changed = missing, True
            for name, why in self.lacks().items():
                log.warning("server %s cannot serve %s: %s", self.config.name, name, why)

    def next_at(self) -> float:
        """When it has something to do that cannot wait for the next turn of the loop."""
        if self._sleep.is_asking:
            return float("inf")
        drained = self.state == DRAINING and not self.inflight
        return self.since if drained else super().next_at()

    def due_for_retry(self, now: float) -> bool:
        """Whether it is broken and it is time to see whether it still is."""
        return self.state == BROKEN and now >= self._at and not self.has_process

    def _launch(self, now: float) -> None:
        self._forget_check(now)
        self._unhealthy, self._awake = "not checked yet", True
        self.starts += 1
        self._at = now + self._timeout_s
        self._enter(STARTING, now)
        try:
            self._port = free_port()
            model = self.config.model(self.model) if self.config.one_at_a_time else None
            args = model.args if model else ()
            self._process = self._run(self._spawn, self.config.command + args)
            self._has_stopped = not self.config.stop
        except OSError as error:
            self._fail(f"no process: {error}", "", now)
            return
        what = f" with {self.model}" if self.model else ""
        log.info("server %s starts%s: pid %d, port %d", self.config.name, what,
                 self._process.pid, self._port)  # fmt: skip

    def _run(self, spawn: Spawn, words: tuple[str, ...]) -> ServerProcess:
        """Run an argv of the configuration: the command, or `stop`. If the agent is killed before
        it ends, the guardian runs `stop`. Raises OSError."""
        mode = SLEEP_MODE if self.config.sleep else {}
        environment = {**environment_for(self.config.card), **mode, **dict(self.config.env)}
        return spawn(self._filled(words), environment, self._filled(self.config.stop))

    def _filled(self, words: tuple[str, ...]) -> list[str]:
        """The words with their placeholders replaced."""
        model = self.config.model(self.model)
        values = {
            "{port}": str(self._port), "{parallel}": str(self.parallel),
            "{model}": self.config.served_as(self.model or ""),
            "{path}": (model.path if model else None) or "",
        }  # fmt: skip
        places = re.compile("|".join(map(re.escape, values)))
        return [places.sub(lambda at: values[at[0]], word) for word in words]

    def _step_start(self, now: float) -> None:
        if self._sleep.is_asking and not self._was_done(now):
            return
        health = self._health(now, CHECK_START_S, with_models=True)
        if health is not None:
            self._unhealthy = health.why
        if health is not None and health.models is not None:
            names = [self.model] if self.model else [one.name for one in self.config.models]
            wanted = set(map(self.config.served_as, names))
            if self.config.kind == "ollama":  # what it lacks may be pulled while it runs
                self._learn(health)
                self._become_ready(now)
            elif wanted <= health.models:
                self._become_ready(now)
            else:
                serves = some_of(health.models) or "nothing"
                self._fail(f"serves {serves}, not {some_of(wanted)}", self._printed(), now)
        elif now >= self._at:
            self._fail(
                f"not ready within {self._timeout_s:g} s: {self._unhealthy}", self._printed(), now
            )

    def _become_ready(self, now: float) -> None:
        self.load_s = round(now - self.since, 3)
        self.error, self.broken = None, False
        self._misses, self._check_at, self.idle_since = 0, now + CHECK_READY_S, now
        self._trust.begin(now)
        self._enter(READY, now)
        log.info("server %s is ready after %.1f s", self.config.name, self.load_s)

    def _step_ready(self, now: float, demand: Demand) -> None:
        if self._in_a_row and now >= self.since + STEADY_S:
            self._in_a_row = 0
        if self._trust.is_silent(now, demand.progress):
            silent_s = self._trust.silent_s(now)
            self._fail(f"no request made progress for {silent_s:.0f} s", self._printed(), now)
            return
        every_s = CHECK_READY_S if self._trust.holds else CHECK_START_S
        health = self._health(now, every_s, with_models=self.config.kind == "ollama")
        if health is not None:
            self._learn(health)
            if health.healthy:
                self._trust.was_healthy(now)
            progressed = self._misses and demand.progress != self._progress
            self._misses = 0 if health.healthy or progressed else self._misses + 1
            self._progress = demand.progress
            if self._misses >= MISSES:
                self._fail(f"no answer to {MISSES} checks: {health.why}", self._printed(), now)
                return
        if not self.busy and not self.keep and self.idle_s and now >= self.idle_since + self.idle_s:
            self.give_way(now)

    def _step_drained(self, now: float) -> None:
        """When no request is in flight, stop or go to sleep."""
        if self.inflight:
            return
        if not self._to_sleep:
            self._end(now)
        elif not self._sleep.is_asking:
            self._ask_to(SLEEP, now)
        elif self._was_done(now):
            self._in_a_row, self._awake = 0, False
            self._enter(ASLEEP, now)
            log.info("server %s is asleep", self.config.name)

    def _forget_check(self, now: float) -> None:
        super()._forget_check(now)
        self._sleep.close()

    def _ask_to(self, path: str, now: float) -> None:
        """Ask it to sleep or to wake up."""
        self._forget_check(now)
        address = self.address()
        try:
            if address is not None:
                self._sleep.ask(path, address, now)
        except OSError as error:  # out of descriptors: no fault of the server
            log.warning("server %s: no request to %s: %s", self.config.name, path, error)
            self._end(now)

    def _was_done(self, now: float) -> bool:
        """Whether it has carried out the request to sleep or to wake up. If it has not, it ends,
        and is stopped instead of sleeping from now on."""
        if self._process is None or self._process.has_ended():
            return False  # the next step sees its end
        why_not = self._sleep.step(now)
        if why_not:
            log.warning("server %s is stopped when it is idle, and does not sleep: %s. vLLM needs "
                        "--enable-sleep-mode", self.config.name, why_not)  # fmt: skip
            self._end(now)
        return why_not == ""

    def _end(self, now: float) -> None:
        """Begin to stop: by the argv of the configuration, else by SIGTERM; SIGKILL comes later."""
        self._forget_check(now)
        self._in_a_row = 0
        self._at = now + END_S
        self._enter(STOPPING, now)
        log.info("server %s stops", self.config.name)
        self._run_stop(now)
        if self._process is not None and not self.config.stop:
            self._process.end()

    def _run_stop(self, now: float) -> None:
        """Run the argv that stops what is not in the process tree, such as a container, if it was
        not run for this process."""
        if self._has_stopped:
            return
        try:
            self._stopper = self._run(self._spawn_stop, self.config.stop)
            self._stop_by = now + STOP_S
        except OSError as error:
            log.warning("server %s: cannot run its stop: %s", self.config.name, error)
        self._has_stopped = True

    def _step_stop(self, now: float) -> None:
        """See whether the argv `stop` has ended. The next start waits for that."""
        if self._stopper is None:
            return
        code = self._stopper.wait()
        if code is not None:
            if code:
                log.warning("server %s: its stop ended with exit code %d: %s",
                            self.config.name, code, self._stopper.tail(TAIL_BYTES))  # fmt: skip
            self._stopper = None
        elif now >= self._stop_by:
            log.warning("server %s: its stop has not ended after %g s, and is killed",
                        self.config.name, STOP_S)  # fmt: skip
            self._stopper.kill()
            self._stop_by = float("inf")

    def _kill_process(self, now: float) -> None:
        if self._process is not None:
            self._run_stop(now)
            self._process.kill()

    def _on_exit(self, code: int, tail: str, now: float) -> None:
        """Its process has ended, and so has its tree."""
        self._run_stop(now)  # a container may outlive the client that has ended
        state, self._process = self.state, None
        drained = state == DRAINING and not self.inflight
        slept = state == ASLEEP or (drained and self._to_sleep)
        self._forget_check(now)
        may_try = self._port_tries < PORT_TRIES and self._stopper is None
        if state == STARTING and may_try and PORT_TAKEN.search(tail):
            self._port_tries += 1
            log.info("server %s: port %s was taken, trying another", self.config.name, self._port)
            self._launch(now)
            return
        self._port = None
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        if slept:  # no request is lost: the next job starts it as if it had been stopped
            self.error, self.crashes = f"{how} while it was asleep", self.crashes + 1
            log.warning("server %s ended: %s", self.config.name, self.error)
        if slept or drained or state == STOPPING:
            self.model, self._at = None, now + BROKEN_RETRY_S
            self._enter(BROKEN if self.broken else OFF, now)
        elif state not in (FAILED, BROKEN):
            lines = tail.splitlines()
            why = f"{how} at its start" if state == STARTING else how
            if lines and code > 0:  # it says by itself why it ended
                why = f"{why}: {lines[-1][:LINE_CHARACTERS]}"
            self._fail(why, tail if len(lines) > 1 or code <= 0 else "", now)

    def _fail(self, why: str, tail: str, now: float) -> None:
        """It does not work: kill what there is of it, and start it again after a pause."""
        self._kill_process(now)
        self._forget_check(now)
        self._files_at = now
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
