"""Bodies that raise exceptions whose meaning is inside them: alone, beside others, in a batch."""

from __future__ import annotations

import asyncio
import builtins
import errno
from typing import Any

from qwf_agent import App, Call, PermanentError, TemporaryError
from qwf_agent.llm.errors import ServerLost

app = App()
Group: Any = getattr(builtins, "ExceptionGroup", None)  # from Python 3.11 on
KINDS = {  # the outcome, its reason and its wait
    "later": ("released", "later", 600),
    "all later": ("released", "later", 900),
    "temporary": ("tempfail", None, 9),
    "permanent": ("fatal", None, None),
    "mixed": ("error", None, None),
    "disk": ("tempfail", "disk_full", None),
    "server": ("lost", "server", None),
    "caused": ("fatal", None, None),
    "caused by a group": ("tempfail", None, None),
    "caused by an exit": ("error", None, None),
    "mute": ("error", None, None),
}


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


def later(seconds: float) -> TemporaryError:
    return TemporaryError("too early", retry_after_s=seconds, counts=False)


def meaning(kind: str) -> BaseException:
    if kind in ("later", "mute"):
        return later(600) if kind == "later" else Mute()
    if kind.startswith("caused"):
        error = RuntimeError("a layer above")
        error.__cause__ = {
            "caused": PermanentError("no such page"),
            "caused by a group": Group("two", [TemporaryError("a"), TemporaryError("b")]),
            "caused by an exit": SystemExit(0),
        }[kind]
        return error
    inner = {
        "all later": [later(600), later(900)],
        "temporary": [TemporaryError(retry_after_s=2), TemporaryError("b", retry_after_s=9)],
        "permanent": [PermanentError("no such page"), Group("in", [PermanentError("b")])],
        "mixed": [TemporaryError("a"), PermanentError("b")],
        "disk": [OSError(errno.ENOSPC, "No space left on device")],
        "server": [ServerLost("gone")],
    }
    return Group("unhandled errors in a TaskGroup", inner[kind])


@app.task
def alone(kind: str) -> None:
    raise meaning(kind)


@app.task(concurrency=5)
async def beside(kind: str) -> None:
    raise meaning(kind)


@app.task(batch=20)
def batched(calls: list[Call]) -> list[BaseException]:
    return [meaning(call.args["kind"]) for call in calls]


@app.task
async def in_task_group() -> None:
    async with asyncio.TaskGroup() as group:  # type: ignore[attr-defined]
        group.create_task(fail())


async def fail() -> None:
    raise TemporaryError("busy", retry_after_s=9)
