"""The model that a child holds. It is loaded when a job first needs it, kept for the next job, and
unloaded for another model or after a time without use."""

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
class LoadedModel:
    """A loaded model. `unloader` is its loader function, suspended at the yield in front of the
    code that unloads it."""

    name: str
    handle: Any
    unloader: Generator[Any, None, None] | None


class Models:
    """Holds at most one model at a time, and tells the parent when it changes."""

    def __init__(
        self, known: Mapping[str, Model], idle_s: float, send: Callable[[Message], None]
    ) -> None:
        self._known = known
        self._idle_s = idle_s
        self._send = send
        self._loaded: LoadedModel | None = None
        self._used_at = 0.0
        self._has_rest = False  # a body that has ended may have left memory of the card in torch

    def knows(self, name: str | None) -> bool:
        """Return True if the app has a loader for this model. A name without one only guides
        claims."""
        return name in self._known

    def get(self, name: str) -> Any:
        """The handle of the model. If another model is loaded, it is unloaded first. Raises
        ModelFailed."""
        is_loaded = self._loaded is not None and self._loaded.name == name
        if is_loaded:
            self._send((REUSED, name))
        else:
            self.unload()
            self._load(name)
        self.touch()
        return self._loaded.handle if self._loaded else None

    def unload(self) -> None:
        """Unload the model, if there is one. An unloader that fails is only logged: the memory is
        freed with the last reference, or with this process."""
        loaded, self._loaded = self._loaded, None
        if loaded is None:
            return
        loaded.handle = None
        if loaded.unloader is not None:
            try:
                next(loaded.unloader, None)
                loaded.unloader.close()
            except Exception:
                print(f"unloading the model {loaded.name!r} failed:", file=sys.stderr)
                traceback.print_exc()
        del loaded
        _free()
        self._has_rest = False
        self._send((MODEL, None, 0.0))

    def touch(self) -> None:
        """Note that a body has used the model, or the card without one, just now."""
        self._used_at = time.monotonic()
        self._has_rest = "torch" in sys.modules

    def idle_ms(self) -> float | None:
        """Milliseconds until the model is unloaded as idle, or what torch keeps on the card is
        freed; None if there is neither."""
        if self._loaded is None and not self._has_rest:
            return None
        return max(0.0, self._used_at + self._idle_s - time.monotonic()) * 1000

    def expire(self) -> None:
        """If there was no job for too long, unload the model and free what torch keeps."""
        if self.idle_ms() != 0:
            return
        self.unload()
        if self._has_rest:
            self._has_rest = False
            _free()

    def _load(self, name: str) -> None:
        started = time.monotonic()
        try:
            result = self._known[name].load()
            unloader = result if isinstance(result, Generator) else None
            handle = next(result) if isinstance(result, Generator) else result
        except BaseException as error:
            traceback.clear_frames(error.__traceback__)  # they hold what is loaded so far
            _free()
            if isinstance(error, Exception):
                raise ModelFailed(name, error) from error
            raise
        self._loaded = LoadedModel(name, handle, unloader)
        self._send((MODEL, name, round(time.monotonic() - started, 3)))


def _free() -> None:
    """Free unused memory of Python, of the card and of the C library."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None:
        with suppress(Exception):
            torch.cuda.empty_cache()
    with suppress(OSError, AttributeError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)
