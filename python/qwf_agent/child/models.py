"""The model a child holds: loaded when a job first needs it, kept for the next job, given up for
another model or when nobody has needed it for a while. Runs only in children."""

from __future__ import annotations

import ctypes
import gc
import sys
import time
import traceback
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from qwf_agent.app import Model
from qwf_agent.child.body import ModelFailed
from qwf_agent.child.messages import MODEL, REUSED, Message


@dataclass
class Resident:
    """A loaded model. `rest` is its loader, waiting at its yield to unload it again."""

    name: str
    handle: Any
    rest: Generator[Any, None, None] | None


class Models:
    """At most one model at a time. Tells the parent whenever that changes."""

    def __init__(
        self, known: Mapping[str, Model], idle_s: float, say: Callable[[Message], None]
    ) -> None:
        self._known = known
        self._idle_s = idle_s
        self._say = say
        self._resident: Resident | None = None
        self._used_at = 0.0

    def knows(self, name: str | None) -> bool:
        """Whether the app has a loader for it. A name without one is for the claim alone."""
        return name in self._known

    def get(self, name: str) -> Any:
        """The handle of the model: the one that is here, or loaded now in place of another.
        Raises ModelFailed."""
        warm = self._resident is not None and self._resident.name == name
        if warm:
            self._say((REUSED, name))
        else:
            self.unload()
            self._load(name)
        self.touch()
        return self._resident.handle if self._resident else None

    def unload(self) -> None:
        """Give up the model that is here. An unloader that fails is only said: its memory goes
        with the references, or with this process."""
        resident, self._resident = self._resident, None
        if resident is None:
            return
        resident.handle = None
        if resident.rest is not None:
            try:
                next(resident.rest, None)
                resident.rest.close()
            except Exception:
                print(f"unloading the model {resident.name!r} failed:", file=sys.stderr)
                traceback.print_exc()
        del resident
        _free()
        self._say((MODEL, None, 0.0))

    def touch(self) -> None:
        """It has been used just now."""
        self._used_at = time.monotonic()

    def idle_ms(self) -> float | None:
        """How long it may yet stay unused, in milliseconds; None: nothing is here."""
        if self._resident is None:
            return None
        return max(0.0, self._used_at + self._idle_s - time.monotonic()) * 1000

    def expire(self) -> None:
        """Unload what has been unused for too long."""
        if self.idle_ms() == 0:
            self.unload()

    def _load(self, name: str) -> None:
        started = time.monotonic()
        try:
            made = self._known[name].load()
            rest = made if isinstance(made, Generator) else None
            handle = next(made) if isinstance(made, Generator) else made
        except BaseException as error:
            _free()
            if isinstance(error, Exception):
                raise ModelFailed(name, error) from error
            raise
        self._resident = Resident(name, handle, rest)
        self._say((MODEL, name, round(time.monotonic() - started, 3)))


def _free() -> None:
    """Have memory go back to where it came from: Python, the card, the system."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None:
        with suppress(Exception):
            torch.cuda.empty_cache()
    with suppress(OSError, AttributeError):  # glibc alone has it
        ctypes.CDLL(None).malloc_trim(0)
