"""Asks an ollama server to load a model, which it pulls first if need be, or to unload one."""

from __future__ import annotations

import json
import selectors
from typing import Any, TypeGuard

from qwf_agent.servers.probe import OK, Request, ServerPlace

PULL, GENERATE, EMBED = "/api/pull", "/api/generate", "/api/embed"
ONLY_EMBEDS = "does not support generate"  # what ollama says of a model for embeddings
TEXT_CHARACTERS = 500  # of what it says
MOST_LAYERS, MOST_BYTES = 1000, 10**18
GB = 1e9


class ModelCall:
    """One order to an ollama server. The loop's selector moves it on.

    If the agent or the connection dies, ollama stops a pull; the next one goes on where it was.
    Invariant: one request is under way until `over`.
    """

    def __init__(
        self, selector: selectors.BaseSelector, place: ServerPlace, model: str, now: float,
        patience_s: float, pull: bool = False, unload: bool = False,
    ) -> None:  # fmt: skip
        """`patience_s`: how long a pull may stand still, and how long a load may take. Raises
        OSError if the system is out of descriptors."""
        self.over = False
        self.unloads = unload
        self.error: str | None = None  # why it failed
        self.progress = ""  # in words
        self._selector = selector
        self._place = place
        self._model = model
        self._patience_s = patience_s
        self._keep = {"keep_alive": 0} if unload else {}
        self._layers: dict[str, tuple[float, float]] = {}  # bytes of each that are here, and all
        self._pulled = False
        self._send(PULL if pull else GENERATE, now)

    def step(self, now: float) -> None:
        """See what has come, and send the next request. Raises OSError."""
        if self.over:
            return
        ended = self._request.step(now)
        for line in self._request.lines() if self._path == PULL else ():
            self._take(line, now)
        if self.error is not None:
            self.close()
        elif ended:
            self._on_end(now)
        elif now >= self._moved_at + self._patience_s:
            what = "it has not moved" if self._path == PULL else "no answer"
            self._fail(f"{what} for {self._patience_s:g} s")

    def close(self) -> None:
        """Forget it; ollama stops a pull."""
        self._request.close()
        self.over = True

    def _send(self, path: str, now: float) -> None:
        self._path, self._moved_at = path, now
        asked = {"model": self._model, "stream": path == PULL, **self._keep}
        if path == EMBED:
            asked["input"] = ""  # nothing to embed: the model is only loaded
        elif path == GENERATE and not self._keep:
            self.progress = "loading"
        body = json.dumps(asked).encode()
        self._request = Request(self._selector, self._place, path, now, body, float("inf"))

    def _on_end(self, now: float) -> None:
        """Read the answer. Raises OSError."""
        if self._request.why:
            self._fail(self._request.why)
        elif self._request.status != OK:
            text = _error(self._request.body) or f"status {self._request.status}"
            if self._path == GENERATE and ONLY_EMBEDS in text:
                self._send(EMBED, now)
            else:
                self._fail(text)
        elif self._path != PULL:
            self.over = True
        elif self._pulled:
            self._send(GENERATE, now)
        else:
            self._fail("the answer was cut off")

    def _take(self, line: bytes, now: float) -> None:
        """Take in a line of a pull: what is done, and how many bytes of which layer are here."""
        said = _object(line)
        if "error" in said:
            self._fail(_text(said["error"]))
            return
        status, before = _text(said.get("status", "")), self.progress
        self._pulled = status == "success"
        done, total, layer = said.get("completed", 0), said.get("total"), _text(said.get("digest"))
        if _is_size(done) and _is_size(total) and len(self._layers) < MOST_LAYERS:
            status = "pulling"
            if self._layers.get(layer) != (done, total):
                self._layers[layer], self._moved_at = (done, total), now
        self.progress = f"{status[:80]}{self._share()}" if status else before
        if self.progress != before:
            self._moved_at = now

    def _share(self) -> str:
        """How much of the layers is here."""
        done, total = map(sum, zip(*self._layers.values(), strict=True)) if self._layers else (0, 0)
        if not total:
            return ""
        return f": {100 * done / total:.0f} %, {done / GB:.1f} of {total / GB:.1f} GB"

    def _fail(self, why: str) -> None:
        doing = "unload" if self._keep else "pull" if self._path == PULL else "load"
        again = "; order it again: it goes on where it was" if self._path == PULL else ""
        self.error = f"cannot {doing} {self._model}: {why}{again}"
        self.close()


def _object(data: bytes) -> dict[str, Any]:
    """A JSON object; empty if the data is none."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _error(body: bytes) -> str:
    """The error in an answer; empty if it says none."""
    return _text(_object(body).get("error", ""))


def _text(value: object) -> str:
    """A value of an answer as a text that a database stores."""
    shown = str(value)[:TEXT_CHARACTERS]
    return "".join(sign if sign.isprintable() else " " for sign in shown)


def _is_size(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and 0 <= value <= MOST_BYTES
