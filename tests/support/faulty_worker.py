"""A small worker that does all that `qwf worker-check` asks for, except what its faults say:

python faulty_worker.py QUEUE [FAULT ...]

One body at a time, in a forked child. The PG* variables say where the database is.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
import time
from typing import Any

import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb, set_json_loads

FAULTS = frozenset(sys.argv[2:])
NEVER = float("inf")


class BodyError(Exception):
    """A body failed in the way that `kind` says."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def run_body(task: str, inputs: dict[str, Any], checkpoint: Any, tell: Any) -> Any:
    """Run a body, in the child."""
    if task == "check.checkpoint":
        if checkpoint:
            return {"found": checkpoint}
        for step in (1, 2):
            tell({"save": {"step": step}})
        raise BodyError("error", "killed")
    if task == "check.echo":
        return inputs
    if task == "check.sleep":
        end, line = time.monotonic() + inputs["seconds"], 0
        while time.monotonic() < end:
            line += 1
            print("line", line, flush=True)
            if inputs.get("beat"):
                with open(inputs["beat"], "a", encoding="utf-8") as file:
                    file.write(".")
            time.sleep(0.1)
        return {"slept": True}
    if task in ("check.stubborn", "check.progress"):
        if task == "check.stubborn":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        else:
            tell({"progress": [0.5, "half"]})
        time.sleep(inputs["seconds"])
        return {}
    if task == "check.fail":
        raise BodyError(inputs["kind"], inputs["message"])
    if task == "check.output":
        large = {"text": "x" * inputs.get("bytes", 0)}
        return {"null": {"text": "a\0b"}, "list": [1, 2], "large": large}[inputs["kind"]]
    if "runs any task" in FAULTS:
        return {}
    raise BodyError("fatal", "this worker has no such task")


def spoiled(output: Any, before: Any) -> Any:
    """The output as a worker with these faults reports it."""
    if "gives an old output" in FAULTS and before is not None:
        return before
    if "loses letters" in FAULTS:
        return json.loads(json.dumps(output, ensure_ascii=False).encode("ascii", "ignore"))
    if "wraps outputs" in FAULTS and not isinstance(output, dict):
        return {"value": output}
    if "cuts outputs" in FAULTS and len(json.dumps(output)) > 100_000:
        return {}
    return output


class Attempt:
    """A job, the child that runs it, and what it has told and printed."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.printed = self.told = b""
        self.why = ""  # it was told to stop
        self.kill_at = NEVER
        self.over_at = time.monotonic() + job["timeout"].total_seconds()
        if "knows no timeout" in FAULTS:
            self.over_at = NEVER
        self.pipe, told = os.pipe()
        self.log, printed = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            self._run(told, printed)
        for end in (told, printed):
            os.close(end)
        os.set_blocking(self.log, False)

    def _run(self, told: int, printed: int) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(printed, 1)

        def tell(message: Any) -> None:
            data = json.dumps(message).encode() + b"\n"
            while data:
                data = data[os.write(told, data) :]

        try:
            given = (self.job["task"], self.job["inputs"], self.job["checkpoint"])
            tell({"outcome": "completed", "output": run_body(*given, tell)})
        except BodyError as error:
            kind = "error" if f"reports {error.kind} as error" in FAULTS else error.kind
            tell({"outcome": kind, "error": "" if "has no messages" in FAULTS else str(error)})
        finally:
            os._exit(0)

    def stop(self, why: str, grace: float) -> None:
        """Tell the body to end, and kill it later; at once if the job is lost."""
        if not self.why:
            self.why = why
            self.kill_at = time.monotonic() + grace
            if "never kills" in FAULTS:
                self.kill_at = NEVER
            self.signal(signal.SIGKILL if why == "lost" else signal.SIGTERM)

    def signal(self, number: int) -> None:
        """Send a signal to the body."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def read_log(self) -> None:
        """Read what the body has printed until now."""
        with contextlib.suppress(BlockingIOError):
            while more := os.read(self.log, 65536):
                self.printed += more


class Worker:
    """One loop for everything."""

    def __init__(self, queue: str) -> None:
        self.queue = queue
        self.stops = 0
        self.attempts: list[Attempt] = []
        self.last_output: Any = None
        self.db, self.listener = self.connect(), self.connect()
        self.settings = self.ask("select qwf.agent_settings(%s) as s", queue)[0]["s"]
        info = {"pid": os.getpid(), "slots": 1, "tasks": [
            "check.checkpoint", "check.echo", "check.fail", "check.output", "check.progress",
            "check.sleep", "check.stubborn"], "writes_begun": True}  # fmt: skip
        if "announces no tasks" in FAULTS:
            del info["tasks"]
        host = socket.gethostname()
        ask = "select qwf.register_worker(%s, %s, %s) as id"
        self.id = self.ask(ask, host, queue, Jsonb(info))[0]["id"]
        self.listen()
        self.beat_at = self.tick_at = self.look_at = self.asleep_at = 0.0
        self.stop_at = self.log_at = NEVER
        self.rechecks: list[float] = []

    def connect(self) -> psycopg.Connection[dict[str, Any]]:
        """A session. Numbers stay exact, unless the fault says otherwise."""
        conn = psycopg.connect("", autocommit=True, row_factory=dict_row, prepare_threshold=None)
        if "rounds numbers" in FAULTS:
            set_json_loads(lambda text: json.loads(text, parse_int=float), conn)
        return conn

    def listen(self) -> None:
        """LISTEN on our channel."""
        (row,) = self.ask("select qwf.wake_channel(%s) as channel", self.id)
        self.listener.execute(f'listen "{row["channel"]}"'.encode())

    def ask(self, text: str, *values: Any) -> list[dict[str, Any]]:
        """The rows of a statement; after a lost connection, those of the next session."""
        while True:
            try:
                return self.db.execute(text.encode(), values).fetchall()
            except psycopg.OperationalError:
                if "dies when cut" in FAULTS:
                    raise
                self.reconnect()

    def reconnect(self) -> None:
        """Open the sessions again."""
        with contextlib.suppress(psycopg.OperationalError):
            self.db = self.connect()
            if "listens once" not in FAULTS:
                self.listener = self.connect()
                self.listen()
        time.sleep(0.1)

    def run(self) -> None:
        """Work until told to stop."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.count_stop)
        while not (self.stops and not self.attempts):
            self.wait()
            now = time.monotonic()
            self.obey_signals(now)
            for attempt in list(self.attempts):
                self.watch(attempt, now)
            if now >= self.beat_at and "sends no heartbeat" not in FAULTS:
                self.beat()
            if now >= self.tick_at and "never ticks" not in FAULTS:
                self.ask("select qwf.tick('0.7 s')::text")
                self.tick_at = now + self.settings["tick"]
            if now >= self.log_at:
                self.send_log(now)
            if not self.stops and now >= self.look_at and len(self.attempts) < self.room():
                self.claim(now)
        if "does not deregister" not in FAULTS:
            self.ask("select qwf.deregister_worker(%s)::text", self.id)

    def count_stop(self, *_: object) -> None:
        """Count signals."""
        self.stops += 1

    def room(self) -> int:
        """The number of bodies that it runs at once."""
        return 2 if "takes too much" in FAULTS else 1

    def wait(self) -> None:
        """Wait for a notification, or for what a body tells."""
        pipes = [one.pipe for one in self.attempts] + [one.log for one in self.attempts]
        with contextlib.suppress(OSError, ValueError, psycopg.Error):
            listener = [] if self.listener.closed else [self.listener.fileno()]
            select.select([*listener, *pipes], [], [], 0.02)
        try:
            for notice in [] if self.listener.closed else self.listener.notifies(timeout=0):
                if notice.payload == "cancel":
                    self.beat_at = 0.0
                elif notice.payload == "log" and "sends no live log" not in FAULTS:
                    self.log_at = 0.0
                else:
                    self.look_at = 0.0
        except psycopg.OperationalError:
            if "listens once" not in FAULTS:
                self.reconnect()

    def obey_signals(self, now: float) -> None:
        """Stop the bodies when the grace is over, or at the second signal."""
        if self.stops and self.stop_at == NEVER and "waits forever" not in FAULTS:
            self.stop_at = now + self.settings["stop_grace"]
            if "gives back at once" in FAULTS:
                self.stop_at = now
        twice = self.stops > 1 and not FAULTS & {"waits forever", "hears one signal"}
        if twice or now > self.stop_at:
            for attempt in self.attempts:
                attempt.stop("released", self.settings["cancel_grace"])

    def claim(self, now: float) -> None:
        """Claim a job, or fall asleep."""
        me = "nobody" if "claims as another" in FAULTS else self.id
        self.look_at = now + (self.rechecks.pop(0) if self.rechecks else self.settings["poll"])
        if jobs := self.ask("select * from qwf.claim(%s, %s)", self.queue, me):
            if jobs[0]["at_most_once"] and "begins unsaid" not in FAULTS:
                self.ask("select qwf.progress(%s, %s, begun => true)", jobs[0]["job_id"],
                         jobs[0]["token"])  # fmt: skip
            self.attempts.append(Attempt(jobs[0]))
            self.ask("select qwf.wake(%s)::text", self.id)
            self.asleep_at = self.look_at = 0.0
        elif now > self.asleep_at + 5 and "never sleeps" not in FAULTS:
            self.ask("select qwf.sleep(%s, %s)::text", self.id, self.queue)
            if not self.asleep_at:
                self.rechecks, self.look_at = [0.005, 0.025, 0.1], now
            self.asleep_at = now

    def watch(self, attempt: Attempt, now: float) -> None:
        """Read what a body tells; when it has ended, report."""
        attempt.read_log()
        if now > attempt.over_at:
            attempt.stop("timeout", self.settings["cancel_grace"])
        if now > attempt.kill_at:
            attempt.signal(signal.SIGKILL)
        if not select.select([attempt.pipe], [], [], 0)[0]:
            return
        more = os.read(attempt.pipe, 1 << 20)
        attempt.told += more
        *lines, rest = attempt.told.split(b"\n")
        messages = [json.loads(line) for line in lines]
        for message in messages:
            if "save" in message and "saves nothing" not in FAULTS:
                self.ask("select qwf.progress(%s, %s, checkpoint => %s)", attempt.job["job_id"],
                         attempt.job["token"], Jsonb(message["save"]))  # fmt: skip
            if "progress" in message and not more:
                continue
            if "progress" in message and "reports no progress" not in FAULTS:
                self.ask("select qwf.progress(%s, %s, %s::real, %s)", attempt.job["job_id"],
                         attempt.job["token"], *message["progress"])  # fmt: skip
        if more:
            attempt.told = b"".join(json.dumps(m).encode() + b"\n" for m in messages
                                    if "outcome" in m) + rest  # fmt: skip
            return
        os.waitpid(attempt.pid, 0)
        attempt.read_log()
        os.close(attempt.pipe)
        os.close(attempt.log)
        self.report(attempt, [m for m in messages if "outcome" in m])
        self.attempts.remove(attempt)
        self.look_at = 0.0

    def report(self, attempt: Attempt, told: list[dict[str, Any]]) -> None:
        """Report until there is an answer."""
        if attempt.why == "lost":
            return
        lost = {"outcome": "lost", "detail": {"reason": attempt.why or "crashed"}}
        given = {"timeout": lost, "": lost}.get(attempt.why, {"outcome": attempt.why})
        report: dict[str, Any] = told[0] if told else given
        if report["outcome"] == "completed":
            report["output"] = spoiled(report["output"], self.last_output)
            self.last_output = report["output"]
        detail = report.setdefault("detail", {})
        if "keeps no log" not in FAULTS and (attempt.printed or "omits empty logs" not in FAULTS):
            detail["log_tail"] = attempt.printed.decode(errors="replace")
        report |= {"job_id": attempt.job["job_id"], "token": str(attempt.job["token"])}
        while True:
            try:
                self.ask("select * from qwf.finish_many(%s::text::jsonb)", json.dumps([report]))
                return
            except (psycopg.DataError, psycopg.InternalError, psycopg.DatabaseError) as error:
                if "repeats what is refused" in FAULTS:
                    time.sleep(1)
                    continue
                report |= {"outcome": "fatal", "output": None, "error": f"refused: {error}"}

    def beat(self) -> None:
        """Renew the leases, and obey."""
        self.beat_at = time.monotonic() + self.settings["heartbeat"]
        tokens = [one.job["token"] for one in self.attempts]
        for row in self.ask("select * from qwf.heartbeat(%s, %s::uuid[])", self.id, tokens):
            (attempt,) = [one for one in self.attempts if one.job["token"] == row["token"]]
            if row["verdict"] == "cancel" and "ignores cancel" not in FAULTS:
                attempt.stop("cancelled", self.settings["cancel_grace"])
            elif row["verdict"] == "lost" and "dies when lost" in FAULTS:
                sys.exit("lost")
            elif row["verdict"] == "lost" and "ignores lost" not in FAULTS:
                attempt.stop("lost", 0)

    def send_log(self, now: float) -> None:
        """Send the log of the job if somebody follows it."""
        self.log_at = NEVER
        for row in self.ask("select j as id from qwf.followed_logs(%s) j", self.id):
            for one in self.attempts:
                if one.job["job_id"] == row["id"]:
                    self.ask("select qwf.report_log(%s, %s, %s::bigint, %s)", row["id"],
                             one.job["token"], len(one.printed), one.printed.decode())  # fmt: skip
                    self.log_at = now + 0.5


if __name__ == "__main__":
    Worker(sys.argv[1]).run()
