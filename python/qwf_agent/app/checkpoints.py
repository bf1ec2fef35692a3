"""The checkpoint of a job, as its body sees it: what an earlier attempt has saved, and how to save
for the next one."""

from __future__ import annotations

import copy
import inspect
import json
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from qwf_agent.app.values import has_nul, path_to_text, place_in

T = TypeVar("T")

STEPS = "qwf.steps"  # the member of the stored object that has the results of `step`
TO_JSON = json.JSONEncoder(allow_nan=False, ensure_ascii=False, default=path_to_text).encode


class Checkpoint:
    """The checkpoint of one job. Any thread of the body may use it.

    Invariant: `value`, and what `step` returns, are what the database has, or what this attempt has
    saved there since.
    """

    def __init__(self, saved: Mapping[str, Any], save: Callable[[str], None]) -> None:
        """`saved` is what an earlier attempt left; `save` stores a JSON text, and returns when it
        is committed."""
        self._value = {name: value for name, value in saved.items() if name != STEPS}
        self._steps: dict[str, Any] = dict(saved.get(STEPS, {}))
        self._save = save
        self._lock = threading.RLock()

    @property
    def value(self) -> dict[str, Any]:
        """The value that was saved last, by this attempt or an earlier one; {} if nothing was."""
        return copy.deepcopy(self._value)

    def save(self, value: Mapping[str, Any]) -> None:
        """Keep a JSON object for the next attempt; it replaces the one before. Returns when it is
        committed, and waits while the database cannot be reached.

        Raises ValueError if it is not JSON, or has more bytes than settings.max_value_bytes.
        """
        if not isinstance(value, Mapping):
            raise ValueError(f"a checkpoint is a dict, not a {type(value).__name__}")
        if STEPS in value:
            raise ValueError(f"the key {STEPS!r} of a checkpoint is that of checkpoint.step()")
        with self._lock:
            self._value = self._store(dict(value), self._steps)[0]

    def step(self, name: str, run: Callable[[], T]) -> T:
        """Return what `run` returned in this attempt or an earlier one; it is called only if it has
        never returned. Its result is kept as JSON, and returned as that: a tuple is a list.

        Raises what `run` raises, ValueError as `save` does, and TypeError for an async function.
        """
        with self._lock:
            if name not in self._steps:
                result = run()
                if inspect.isawaitable(result):
                    raise TypeError("checkpoint.step() calls a plain function, not an async one")
                self._steps = self._store(self._value, {**self._steps, name: result})[1]
            kept: T = copy.deepcopy(self._steps[name])
            return kept

    def _store(
        self, value: dict[str, Any], steps: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        text = encode({**value, STEPS: steps} if steps else value)
        self._save(text)
        stored = json.loads(text)
        kept = stored.pop(STEPS, {})
        return stored, kept


def encode(value: dict[str, Any]) -> str:
    """The JSON text of a checkpoint. Raises ValueError."""
    try:
        text = TO_JSON(value)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:  # a lone surrogate is a ValueError
        raise ValueError(f"the checkpoint is not JSON: {error}{place_in(value)}") from None
    if has_nul(text):
        raise ValueError("the checkpoint contains a NUL character, which Postgres cannot store")
    return text
