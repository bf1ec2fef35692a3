"""Bodies that run many at once, and bodies that take a batch."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from qwf_agent import FROM_AGENT, App, Call, Checkpoint, Job, Release

app = App()


@app.task(concurrency=50)
async def nap(seconds: float = 0.0, file: str | None = None) -> dict[str, Any]:
    """Waits, and writes down that it has begun."""
    if file:
        with Path(file).open("a") as marks:
            marks.write(f"{os.getpid()}\n")
    await asyncio.sleep(seconds)
    return {"pid": os.getpid()}


@app.task(concurrency=10)
async def talk(name: str, lines: int, job: Job = FROM_AGENT) -> dict[str, Any]:
    for line in range(lines):
        print(f"{name} says ", end="")
        await asyncio.sleep(0.01)
        print(line)
        await asyncio.to_thread(print, f"{name} thinks {line}", file=sys.stderr)
    return {"name": name, "job": job.id}


@app.task(concurrency=50)
async def deaf(file: str) -> None:
    """Does not let itself be cancelled."""
    Path(file).touch()
    while True:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            print("not now")


@app.task(concurrency=50)
async def block(file: str) -> None:
    await asyncio.sleep(0.1)
    Path(file).touch()
    time.sleep(600)


@app.task(concurrency=50)
async def crash() -> None:
    await asyncio.sleep(0.3)
    os.kill(os.getpid(), signal.SIGSEGV)


@app.task(concurrency=50)
async def crash_from_a_thread() -> None:
    """Nothing of it is on the CPU when its process ends."""
    os.posix_spawn("/bin/sh", ["sh", "-c", f"sleep 0.2; kill -9 {os.getpid()}"], os.environ)
    await asyncio.sleep(600)


@app.task(concurrency=50)
async def save(file: str, stopping: Any = FROM_AGENT) -> None:
    Path(file).touch()
    await stopping.wait()
    raise Release(f"saved, because of {stopping.reason}")


@app.task(concurrency=50)
async def write(text: str, out: Path = FROM_AGENT, status_callback: Any = FROM_AGENT) -> None:
    (out / "text.txt").write_text(text)
    status_callback(0.5, f"wrote {text}")
    await asyncio.sleep(2)


@app.task(concurrency=50)
async def resume(job: Job = FROM_AGENT, checkpoint: Checkpoint = FROM_AGENT) -> dict[str, Any]:
    """Saves thrice, streams and fails; the next attempt goes on."""
    if job.attempt > 1:
        return {"step": checkpoint.value["step"]}
    try:
        checkpoint.save({"step": 0})
    except RuntimeError as error:
        print(error)
    for step in (1, 2, 3):
        await asyncio.to_thread(checkpoint.save, {"step": step * 1000 + job.id})
    raise ValueError("once more")


@app.task(concurrency=50)
async def tell(words: int, file: str, job: Job = FROM_AGENT) -> None:
    """Streams numbers once the file is there."""
    while not Path(file).exists():
        await asyncio.sleep(0.02)
    for number in range(words):
        job.stream(f"{job.id}ö{number} ")
        await asyncio.sleep(0.002)


@app.task(concurrency=50)
async def break_card(seconds: float, broken: bool) -> dict[str, Any]:
    await asyncio.sleep(seconds)
    if broken:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")
    return {"pid": os.getpid()}


@app.task(concurrency=50)
async def fork() -> dict[str, Any]:
    pid = os.fork()
    if pid:
        _, status = os.waitpid(pid, 0)
        return {"status": status}
    await asyncio.sleep(0)  # the copy comes back to its event loop
    return {"copy": True}


@app.task(concurrency=50)
async def fail(how: str) -> None:
    await asyncio.sleep(0.01)
    if how == "exit":
        await asyncio.create_task(leave())
    raise ValueError(how)


async def leave() -> None:
    sys.exit(3)


@app.task()
def plain() -> dict[str, Any]:
    return {"pid": os.getpid()}


@app.task(batch=32)
def double(calls: list[Call]) -> list[dict[str, Any] | Exception | None]:
    print(f"{len(calls)} calls")
    results: list[dict[str, Any] | Exception | None] = []
    for call in calls:
        number = call.args["number"]
        if number == "bad":
            results.append(ValueError("no number"))
        elif number == "poison":
            os.kill(os.getpid(), signal.SIGKILL)
        elif number == "nothing":
            results.append(None)
        else:
            (call.out() / "double.txt").write_text(str(2 * number))
            results.append({"double": 2 * number, "together": len(calls), "pid": os.getpid()})
    return results


@app.task(batch=8, batch_wait=1.0)
async def slow(calls: list[Call], stopping: Any = FROM_AGENT) -> list[dict[str, Any]]:
    file = Path(calls[0].args["file"])
    file.touch()
    until = time.monotonic() + calls[0].args["seconds"]
    while time.monotonic() < until:
        await asyncio.sleep(0.02)
        if stopping.is_set():
            raise Release(f"because of {stopping.reason}")
    return [{"together": len(calls), "cancelled": call.cancelled()} for call in calls]


@app.task(batch=4)
def wrong(calls: list[Call]) -> list[None]:
    return [None] * (len(calls) + 1)


@app.model("doubler")
def doubler() -> Any:
    return {"factor": 2}


@app.task(batch=16, model="doubler")
def infer(calls: list[Call], model: Any = FROM_AGENT) -> list[dict[str, Any]]:
    return [{"is": model["factor"] * call.args["x"], "together": len(calls)} for call in calls]


@app.task(batch=4)
def break_card_in_batch(calls: list[Call]) -> list[dict[str, Any] | Exception]:
    error = RuntimeError("CUDA error: an illegal memory access was encountered")
    return [error if call.args["broken"] else {"pid": os.getpid()} for call in calls]


@app.task(batch=4)
def stream_in_batch(calls: list[Call]) -> list[None]:
    calls[0].job.stream("text")
    return [None for _ in calls]
