"""Tasks that write down, outside the database, when they begin, what they read and what they
return. Each body has a mark of its own, so that every output is known to be of one body."""

from __future__ import annotations

import asyncio
import os
import signal
import time
import uuid
from pathlib import Path
from typing import Any

import psycopg

from qwf_agent import (
    FROM_AGENT,
    App,
    Call,
    Checkpoint,
    Job,
    PermanentError,
    Release,
    TemporaryError,
)
from support.notes import note

app = App()
HOME = Path(os.environ["CHAOS_HOME"])
TURNS = 5
EFFECT = """
insert into public.effects (run_id, turn, before, mark) values (%s, %s, %s, %s)
on conflict do nothing
"""
LINE = 64  # bytes of a mark with its line end, repeated in a file


class Body:
    """One body: its mark, and its notes. Times are of the monotonic clock, which all processes of
    a machine share and no fault moves."""

    def __init__(self, job: Job, read: list[str] | None = None, **said: Any) -> None:
        self.mark = uuid.uuid4().hex
        self._who = {"job": job.id, "attempt": job.attempt, "mark": self.mark}
        more = {"run": job.run_id, "node": job.node_id, "task": job.task, "read": read or []}
        self._note("begins", box=os.environ["CHAOS_BOX"], pid=os.getpid(), **more, **said)

    def ends(self, **output: Any) -> dict[str, Any]:
        output = {"mark": self.mark, **output}
        self._note("ends", output=output)
        return output

    def saves(self, step: int) -> None:
        self._note("saves", step=step)

    def _note(self, what: str, **more: Any) -> None:
        one = {**self._who, "what": what, "at": time.monotonic(), **more}
        note(HOME / "bodies", one)


@app.task()
def work(seconds: float, job: Job = FROM_AGENT) -> dict[str, Any]:
    body = Body(job)
    time.sleep(seconds)
    return body.ends()


@app.task()
def killer(job: Job = FROM_AGENT) -> dict[str, Any]:
    """Kills its process, on every box, until somebody mends it."""
    body = Body(job)
    if (HOME / "kill").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return body.ends()


@app.task(at_most_once=True)
def mail(seconds: float, job: Job = FROM_AGENT) -> dict[str, Any]:
    """Must not begin twice."""
    body = Body(job)
    time.sleep(seconds)
    return body.ends()


@app.task(concurrency=8)
async def beside(seconds: float, job: Job = FROM_AGENT) -> dict[str, Any]:
    """Runs beside others in one process, which faults end for all of them."""
    body = Body(job)
    await asyncio.sleep(seconds)
    return body.ends()


@app.task(batch=6, batch_wait=0.2)
def together(calls: list[Call]) -> list[dict[str, Any] | Exception]:
    """A batch: one of its jobs may fail, the others are completed."""
    bodies = [Body(call.job) for call in calls]
    time.sleep(max(call.args["seconds"] for call in calls))
    return [
        ValueError("not this one") if call.job.id % 7 == 0 and call.job.attempt < 2 else body.ends()
        for call, body in zip(calls, bodies, strict=True)
    ]


@app.task()
def doubtful(seconds: float, job: Job = FROM_AGENT) -> dict[str, Any]:
    """Fails in most of its first attempts, in both ways."""
    body = Body(job)
    time.sleep(seconds)
    if job.attempt % 3 == 1:
        raise TemporaryError("not yet")
    if job.attempt % 3 == 2 and job.attempt < 6:
        raise ValueError("not yet either")
    return body.ends()


@app.task()
def edit(document: str, number: int, job: Job = FROM_AGENT) -> dict[str, Any]:
    """Uses the text of a document: the number of its edit."""
    body = Body(job, document=document, number=number)
    time.sleep(0.2)
    return body.ends(number=number)


@app.task()
def pause(steps: int, job: Job = FROM_AGENT, stopping: Any = FROM_AGENT) -> dict[str, Any]:
    """Saves its step when it should stop, gives the job back, and goes on from there."""
    file = HOME / "saved" / str(job.id)
    saved = int(file.read_text()) if file.exists() else 0
    body = Body(job, saved=saved)
    for step in range(saved, steps):
        if stopping.wait(0.1):
            if not file.exists() or int(file.read_text()) < step:  # of a body that was too late
                new = file.with_name(f"{job.id} {body.mark}")
                new.write_text(str(step))
                new.rename(file)
            body.saves(step)
            raise Release("saved")
    return body.ends(steps=steps)


@app.task()
def write(
    kilobytes: int, read: list[str] | None = None, job: Job = FROM_AGENT, out: Path = FROM_AGENT
) -> dict[str, Any]:
    """Writes a file that nobody else writes: an earlier attempt may still be running."""
    body = Body(job, read)
    file = out / f"{body.mark}.txt"
    file.write_text(f"{body.mark:<{LINE - 1}}\n" * (kilobytes * 1024 // LINE))
    return body.ends(file=str(file), size=file.stat().st_size)


@app.task()
def train(steps: int, job: Job = FROM_AGENT, checkpoint: Checkpoint = FROM_AGENT) -> dict[str, Any]:
    """Saves each step, and goes on from what an earlier attempt saved."""
    body, done = Body(job), checkpoint.value.get("step", 0)
    one = {"job": job.id, "attempt": job.attempt}
    note(HOME / "saves", {**one, "what": "goes on", "step": done})
    for step in range(done + 1, steps + 1):
        checkpoint.save({"step": step})
        note(HOME / "saves", {**one, "what": "saved", "step": step})
        time.sleep(0.2)
    return body.ends(steps=steps)


@app.task()
def turn(number: int, last: dict[str, Any] | None, job: Job = FROM_AGENT) -> dict[str, Any]:
    """A turn of a repeat, whose effect has a key: who makes it once more, makes nothing."""
    body = Body(job, [last["mark"]] if last else [])
    before = last["turn"] if last else None
    with psycopg.connect(os.environ["CHAOS_DSN"], connect_timeout=5) as conn:
        conn.execute(EFFECT, [job.run_id, number, before, body.mark])
    return body.ends(turn=number, done=number == TURNS - 1)


@app.task()
def prepare(parts: int, job: Job = FROM_AGENT) -> dict[str, Any]:
    body = Body(job)
    return body.ends(items=[{"part": part, "read": body.mark} for part in range(parts)])


@app.task()
def part(item: dict[str, Any], job: Job = FROM_AGENT) -> dict[str, Any]:
    body = Body(job, [item["read"]])
    time.sleep(0.05 * item["part"])
    return body.ends(part=item["part"])


@app.task()
def fragile(parts: list[dict[str, Any]], job: Job = FROM_AGENT) -> dict[str, Any]:
    """Fails for good until somebody mends it."""
    body = Body(job, [each["mark"] for each in parts])
    if not (HOME / "mended" / str(job.run_id)).exists() and (job.run_id or 0) % 3 == 0:
        raise PermanentError("it is not mended")
    return body.ends(parts=sorted(each["part"] for each in parts))
