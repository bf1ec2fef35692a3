"""Questions of the tests of model servers to an agent and its database."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

from support.harness import Database, until


def server(base: Database, name: str = "llama") -> dict[str, Any]:
    """Report of the last heartbeat about a server."""
    stats = base.one("select stats -> 'servers' from qwf.workers where stopped_at is null") or []
    return next((one for one in stats if one["name"] == name), {"state": None})


def state(base: Database, wanted: str, name: str = "llama") -> dict[str, Any]:
    """Wait until a heartbeat says that the server is in this state."""
    found: dict[str, Any] = until(
        lambda: (now := server(base, name))["state"] == wanted and now, f"{name} to be {wanted}"
    )
    return found


def ask(base: Database, model: str = "tiny", **options: Any) -> int:
    """A job with one request."""
    return base.enqueue("prompt", {}, queue="llm", model=model, **options)


def holders(base: Database, folder: Path, count: int, **options: Any) -> list[int]:
    """Jobs that are in flight until the file `gate` beside the folder exists."""
    return _until_gate(base, "hold", folder, count, **options)


def chats(
    base: Database, folder: Path, count: int, task: str = "chat_until", **options: Any
) -> list[int]:
    """Such jobs that send requests all the time."""
    return _until_gate(base, task, folder, count, **options)


def request(base: Database, action: str, model: str | None) -> dict[str, Any]:
    """Order that a model is loaded or unloaded, and return the answer."""
    query = "select qwf.request_model('box', 'llm', %s, %s)"
    number = base.one(query, model, action)
    look = "select * from qwf.model_requests where id = %s and answered_at is not null"
    found: dict[str, Any] = until(
        lambda: base.conn.execute(look, (number,)).fetchone(), "an answer"
    )
    return found


def busy(port: int) -> int:
    """On how many requests the server at this port works."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/slots", timeout=60) as answer:
        return sum(bool(slot["is_processing"]) for slot in json.load(answer))


def _until_gate(base: Database, task: str, folder: Path, count: int, **options: Any) -> list[int]:
    folder.mkdir(exist_ok=True)
    options = {"queue": "llm", "model": "tiny", **options}
    args = {"folder": str(folder), "until": str(folder.parent / "gate")}
    return [base.enqueue(task, {**args, "name": str(n)}, **options) for n in range(count)]
