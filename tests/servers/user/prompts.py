"""Tasks that use a served model, with an HTTP client of their own."""

from __future__ import annotations

import http.client
import json
import os
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from qwf_agent import App

app = App()


def ask(base_url: str, model: str, tokens: int) -> str:
    """One chat completion; returns the name of the model that answered."""
    parts = urlsplit(base_url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port or 80, timeout=60)
    messages = [{"role": "user", "content": "says"}]
    body = {"model": model, "messages": messages, "max_tokens": tokens, "ignore_eos": True}
    connection.request("POST", f"{parts.path}/chat/completions", json.dumps(body),
                       {"Content-Type": "application/json"})  # fmt: skip
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    assert answer.status == 200, text
    return str(json.loads(text)["model"])


@app.task()
def prompt(model: Any, tokens: int = 8) -> dict[str, Any]:
    """One request."""
    return {"model": ask(model.base_url, model.name, tokens), "url": model.base_url}


@app.task()
def hold(model: Any, folder: str, name: str, until: str) -> dict[str, Any]:
    """Is in flight from the mark that it makes until the file `until` exists, without a request."""
    mark = Path(folder, name)
    mark.write_text(str(os.getpid()))
    while not Path(until).exists():
        time.sleep(0.01)
    mark.unlink()
    return {"url": model.base_url}


@app.task()
def chat_until(model: Any, folder: str, name: str, until: str) -> dict[str, Any]:
    """Sends requests by the model's handle until the file `until` exists."""
    asked = 0
    Path(folder, name).touch()
    while not Path(until).exists():
        model.chat("says", max_tokens=200, ignore_eos=True)
        asked += 1
    return {"asked": asked}


@app.task()
def ask_until(model: Any, folder: str, name: str, until: str) -> dict[str, Any]:
    """The same with a client of its own, which knows nothing of outcomes."""
    asked = 0
    Path(folder, name).touch()
    while not Path(until).exists():
        ask(model.base_url, model.name, 200)
        asked += 1
    return {"asked": asked}


@app.task()
def plain() -> None:
    """Needs no model."""
