"""Wiring: how the parameters of a body are filled, by name, and how its result becomes an
output."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import types
import typing
from collections.abc import Awaitable, Callable
from pathlib import Path, PurePath
from typing import Any, NamedTuple, Union

from qwf_agent.app import Job
from qwf_agent.child.cancel import CancelEvent

# jsonb holds every character but this one: \u0000, unless the backslash itself is escaped.
NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class BodyContext(NamedTuple):
    """What a body can ask for by name."""

    job: Job
    inputs: dict[str, Any]
    out: Callable[[], Path]
    status_callback: Callable[..., None]
    cancel_event: CancelEvent
    model: Any = None


SPECIAL: dict[str, Callable[[BodyContext], Any]] = {
    "out": lambda given: given.out(),
    "inputs": lambda given: given.inputs,
    "status_callback": lambda given: given.status_callback,
    "cancel_event": lambda given: given.cancel_event,
    "job": lambda given: given.job,
    "model": lambda given: given.model,
    "model_handle": lambda given: given.model,
}


class BadOutput(Exception):
    """A body returned what cannot be stored."""


class ImportFailed(Exception):
    """The code of a task could not be imported; the cause says why."""


class ModelFailed(Exception):
    """The model a body needs could not be loaded; the cause says why."""

    def __init__(self, name: str, cause: BaseException) -> None:
        super().__init__(f"model {name!r} could not be loaded: {type(cause).__name__}: {cause}")
        self.__cause__ = cause


class Body:
    """A function and where each of its parameters comes from; worked out once, called for every
    job."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", str(function))
        parameters = list(inspect.signature(function).parameters.values())
        hints = _hints(function)
        kinds = inspect.Parameter
        self._positional = [p.name for p in parameters if p.kind is kinds.POSITIONAL_ONLY]
        self._named = [
            p for p in parameters if p.kind not in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)
        ]
        self._takes_rest = any(p.kind is kinds.VAR_KEYWORD for p in parameters)
        self._paths = {p.name for p in parameters if _is_path(hints.get(p.name, p.annotation))}

    def __call__(self, given: BodyContext) -> Any:
        """Run the function, to its end also if it is async. Raises what it raises, and TypeError
        for a missing input."""
        arguments = self._arguments(given)
        positional = [arguments.pop(name) for name in self._positional if name in arguments]
        result = self.function(*positional, **arguments)
        if result is None or isinstance(result, dict):  # as most do: to ask what else takes longer
            return result
        return asyncio.run(_wait_for(result)) if inspect.isawaitable(result) else result

    def _arguments(self, given: BodyContext) -> dict[str, Any]:
        arguments = {}
        for parameter in self._named:
            name, optional = parameter.name, parameter.default is not parameter.empty
            if name in SPECIAL:
                arguments[name] = SPECIAL[name](given)
            elif given.inputs.get(name) is not None:
                arguments[name] = self._coerce(name, given.inputs[name])
            elif name in given.inputs and not optional:
                arguments[name] = None
            elif not optional:
                raise TypeError(f"{self.name}() needs the input {name!r}, which was not given")
        if self._takes_rest:
            taken = {parameter.name for parameter in self._named}
            arguments.update(
                (name, value) for name, value in given.inputs.items() if name not in taken
            )
        return arguments

    def _coerce(self, name: str, value: Any) -> Any:
        return Path(value) if name in self._paths and isinstance(value, str) else value


def _plain(value: object) -> str:
    if isinstance(value, PurePath):
        return str(value)
    raise TypeError(f"it holds a value of type {type(value).__name__}")


OUTPUT_TO_JSON = json.JSONEncoder(allow_nan=False, ensure_ascii=False, default=_plain).encode


def encode_output(result: Any, limit: int) -> bytes:
    """The JSON text of a body's result, at most `limit` bytes; None is {}, a Path is its text.
    Raises BadOutput."""
    if result is None:
        return b"{}"
    if not isinstance(result, dict):
        raise BadOutput(f"a body returns a dict or None, this one returned {type(result).__name__}")
    try:
        text = OUTPUT_TO_JSON(result).encode()
    except (TypeError, ValueError, RecursionError) as error:  # UnicodeEncodeError is a ValueError
        raise BadOutput(f"the output is not JSON: {error}") from None
    if b"\\u0000" in text and NUL.search(text):
        raise BadOutput("the output holds a NUL character, which a database text cannot hold")
    if len(text) > limit:
        raise BadOutput(
            f"the output has {len(text)} bytes, at most {limit} fit (QW005): "
            "write a file and return where it is"
        )
    return text


async def _wait_for(result: Awaitable[Any]) -> Any:
    return await result


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except Exception:  # a name that only a type checker sees: the text of the annotation has to do
        return {}


def _is_path(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return re.search(r"\bPath\b", annotation) is not None
    if typing.get_origin(annotation) in (Union, types.UnionType):
        return any(_is_path(member) for member in typing.get_args(annotation))
    return isinstance(annotation, type) and issubclass(annotation, PurePath)
