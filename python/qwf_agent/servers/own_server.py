"""A model server that the agent starts and stops: the states that it goes through, and why."""

from __future__ import annotations

import logging
import selectors
from typing import Any

from qwf_agent.servers.config import ServerConfig
from qwf_agent.servers.failures import Failures
from qwf_agent.servers.model_files import ModelFiles
from qwf_agent.servers.probe import Address
from qwf_agent.servers.process import SENT_BYTES
from qwf_agent.servers.program import Program, Spawn
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
    ModelServer,
    some_of,
)
from qwf_agent.servers.sleep import SLEEP, WAKE, Sleep
from qwf_agent.servers.trust import Trust

log = logging.getLogger("qwf_agent")

CHECK_START_S, CHECK_READY_S = 0.25, 5.0
END_S = 10.0  # between SIGTERM and SIGKILL
STEADY_S = 60.0  # a server that was ready for so long has started well
ERROR_BYTES = 400
LINE_CHARACTERS = 300  # of the last line that a server has printed


class OwnServer(ModelServer):
    """A server that the agent starts and stops.

    Invariant: there is a process in the states starting, ready, draining, asleep and stopping, and
    none in off and broken. A failed one was killed, and may take a moment to end. A request to
    sleep is under way only while it is draining, one to wake up only while it is starting.
    """

    def __init__(
        self, config: ServerConfig, selector: selectors.BaseSelector, spawn: Spawn,
        spawn_stop: Spawn | None = None,
    ) -> None:  # fmt: skip
        super().__init__(config, selector, OFF)
        self.program = Program(config, spawn, spawn_stop)
        self.failures = Failures()
        self.keep = False  # do not stop it because it is idle
        self.too_big: dict[str, str] = {}  # models for which its card is too small, each with why
        self.idle_since = 0.0
        self.next_model: str | None = None  # the one to start with after the end of this process
        self.awake = True  # its model is on the card
        self._sleep = Sleep(selector, config)
        self._to_sleep = False  # what it is draining for; else it is stopped then
        self._timeout_s = 0.0
        self._at = float("inf")  # when a start or an end is over
        self._misses = self._progress = 0
        self._trust = Trust()
        self._unhealthy = ""  # why it was not ready at the last check
        self._files = ModelFiles(config.models)

    def address(self) -> Address | None:
        """Where it listens, while it has a process."""
        port = self.program.port
        return None if port is None else ("127.0.0.1", port)

    def may_serve(self, model: str) -> bool:
        """Return True if jobs of this model may be sent here, now or after a start."""
        return super().may_serve(model) and not self.failures.broken

    def is_ready_for(self, model: str) -> bool:
        """Return True if a request for this model can be sent now."""
        return super().is_ready_for(model) and self._trust.holds

    def lack(self, model: str) -> str | None:
        """Why it cannot serve a model of its configuration, and what to do."""
        file = self._files.missing.get(model)
        if file is not None:
            return f"{file} is missing: download it, or correct path in qwf.toml"
        return self.too_big.get(model) or super().lack(model)

    def has_ended(self, start: int) -> bool:
        """Return True if the process of this start has ended, even if no step has seen it yet."""
        return super().has_ended(start) or self.program.has_ended()

    def stats(self, now: float, _log_bytes: int = SENT_BYTES) -> dict[str, Any]:
        """The part of a heartbeat about it, with at most `_log_bytes` of what it has printed."""
        paused = self.state in (FAILED, BROKEN)
        return {
            **super().stats(now), **self.program.stats(_log_bytes),
            "retry_s": round(max(0.0, self.failures.retry_at - now), 1) if paused else None,
        }  # fmt: skip

    # What others order.

    def start(self, model: str, now: float, timeout_s: float) -> None:
        """Start it for this model."""
        self.next_model, self.program.port_tries = None, 0
        self.model = model if self.config.one_at_a_time or len(self.config.models) == 1 else None
        self._timeout_s = self.config.start_timeout or timeout_s
        self._launch(now)

    def wake(self, now: float, timeout_s: float) -> None:
        """Wake it up, if it is asleep."""
        self._timeout_s = self.config.start_timeout or timeout_s
        self._at = now + self._timeout_s
        self._unhealthy, self.awake = "not checked yet", True
        self._enter(STARTING, now)
        log.info("server %s wakes up", self.config.name)
        self._forget_check(now)
        if not self._sleep.ask(WAKE, self.address(), now):
            self._end(now)

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
        if self.state == FAILED and self.program.process is None:
            self._enter(OFF, now)

    def kill(self, now: float) -> None:
        """Stop it now."""
        if self.program.process is not None:
            self.program.kill(now)
            if self.state not in (STOPPING, BROKEN):
                self._enter(STOPPING, now)
        elif self.state == FAILED:
            self._enter(OFF, now)

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
        if now >= self._files.look_at and self._files.look(now):
            self.changed = True
            for name, why in self.lacks().items():
                log.warning("server %s cannot serve %s: %s", self.config.name, name, why)
        self.program.step_stop(now)
        if (ended := self.program.wait(now)) is not None:
            self._on_exit(*ended, now)
        elif self.state == STARTING:
            self._step_start(now)
        elif self.state == READY:
            self._step_ready(now, demand)
        elif self.state == DRAINING:
            self._step_drained(now)
        elif self.state == STOPPING and now >= self._at and self.program.process is not None:
            self._at = float("inf")
            self.program.kill(now)
        elif self.state == FAILED and now >= self.failures.retry_at and not self.program.exists:
            self._enter(OFF, now)

    def next_at(self) -> float:
        """When it has something to do that cannot wait for the next turn of the loop."""
        if self._sleep.is_asking:
            return float("inf")
        drained = self.state == DRAINING and not self.inflight
        return self.since if drained else super().next_at()

    def due_for_retry(self, now: float) -> bool:
        """Return True if it is broken and it is time to see whether it still is."""
        over = now >= self.failures.retry_at
        return self.state == BROKEN and over and not self.program.exists

    def _launch(self, now: float) -> None:
        self._forget_check(now)
        self._unhealthy, self.awake = "not checked yet", True
        self.starts += 1
        self._at = now + self._timeout_s
        self._enter(STARTING, now)
        try:
            process = self.program.start(self.model, self.parallel)
        except OSError as error:
            self._fail(f"no process: {error}", "", now)
            return
        what = f" with {self.model}" if self.model else ""
        log.info("server %s starts%s: pid %d, port %d", self.config.name, what,
                 process.pid, self.program.port)  # fmt: skip

    def _step_start(self, now: float) -> None:
        if self._sleep.is_asking and not self._was_done(now):
            return
        health = self._health(now, CHECK_START_S, with_models=True)
        if health is not None:
            self._unhealthy = health.why
        if health is None or health.models is None:
            if now >= self._at:
                late = f"not ready within {self._timeout_s:g} s"
                self._fail(f"{late}: {self._unhealthy}", self.program.tail(), now)
            return
        names = [self.model] if self.model else [one.name for one in self.config.models]
        wanted = set(map(self.config.served_as, names))
        if self.config.kind == "ollama":  # what it lacks may be pulled while it runs
            self._learn(health)
        elif not wanted <= health.models:
            serves = some_of(health.models) or "nothing"
            self._fail(f"serves {serves}, not {some_of(wanted)}", self.program.tail(), now)
            return
        self.load_s = round(now - self.since, 3)
        self.error, self.failures.broken = None, False
        self._misses, self._check_at, self.idle_since = 0, now + CHECK_READY_S, now
        self._trust.begin(now)
        self._enter(READY, now)
        log.info("server %s is ready after %.1f s", self.config.name, self.load_s)

    def _step_ready(self, now: float, demand: Demand) -> None:
        if self.failures.in_a_row and now >= self.since + STEADY_S:
            self.failures.in_a_row = 0
        if self._trust.is_silent(now, demand.progress):
            silent_s = self._trust.silent_s(now)
            self._fail(f"no request made progress for {silent_s:.0f} s", self.program.tail(), now)
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
                self._fail(f"no answer to {MISSES} checks: {health.why}", self.program.tail(), now)
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
            self._forget_check(now)
            if not self._sleep.ask(SLEEP, self.address(), now):
                self._end(now)
        elif self._was_done(now):
            self.failures.in_a_row, self.awake = 0, False
            self._enter(ASLEEP, now)
            log.info("server %s is asleep", self.config.name)

    def _forget_check(self, now: float) -> None:
        super()._forget_check(now)
        self._sleep.close()

    def _was_done(self, now: float) -> bool:
        """Return True if it has carried out the request to sleep or to wake up. If it has not, it
        ends, and is stopped instead of sleeping from now on."""
        if self.program.has_ended():
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
        self.failures.in_a_row = 0
        self._at = now + END_S
        self._enter(STOPPING, now)
        log.info("server %s stops", self.config.name)
        self.program.end(now)

    def _on_exit(self, code: int, tail: str, now: float) -> None:
        """Its process has ended, and so has its tree."""
        state = self.state
        drained = state == DRAINING and not self.inflight
        slept = state == ASLEEP or (drained and self._to_sleep)
        self._forget_check(now)
        if state == STARTING and self.program.may_try_other_port(tail):
            self.program.port_tries += 1
            log.info("server %s: port %s was taken, trying another",
                     self.config.name, self.program.port)  # fmt: skip
            self._launch(now)
            return
        self.program.port = None
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        if slept:  # no request is lost: the next job starts it as if it had been stopped
            self.error, self.crashes = f"{how} while it was asleep", self.crashes + 1
            log.warning("server %s ended: %s", self.config.name, self.error)
        if slept or drained or state == STOPPING:
            self.model = None
            self.failures.pause(now)
            self._enter(BROKEN if self.failures.broken else OFF, now)
        elif state not in (FAILED, BROKEN):
            lines = tail.splitlines()
            why = f"{how} at its start" if state == STARTING else how
            if lines and code > 0:  # it says by itself why it ended
                why = f"{why}: {lines[-1][:LINE_CHARACTERS]}"
            self._fail(why, tail if len(lines) > 1 or code <= 0 else "", now)

    def _fail(self, why: str, tail: str, now: float) -> None:
        """It does not work: kill what there is of it, and start it again after a pause."""
        self.program.kill(now)
        self._forget_check(now)
        self._files.look_at = now
        self.program.port = self.model = None
        self.crashes += 1
        last = tail if len(tail) <= ERROR_BYTES else tail[-ERROR_BYTES:].partition("\n")[2]
        self.error = f"{why}\n{last}" if last else why
        wait_s = self.failures.add(now)
        self._enter(BROKEN if self.failures.broken else FAILED, now)
        log.warning("server %s %s, trying again in %g s: %s%s", self.config.name,
                    "is broken" if self.failures.broken else "failed", wait_s, why,
                    f"\n{tail}" if tail else "")  # fmt: skip
