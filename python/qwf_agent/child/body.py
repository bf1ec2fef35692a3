"""Fills the parameters of a body by name, and turns its result into an output."""

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

# jsonb cannot hold this character: \u0000, unless the backslash itself is escaped.
NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class BodyContext(NamedTuple):
    """What a body can take by parameter name."""

    job: Job
    inputs: dict[str, Any]
    out: Callable[[], Path]
    status_callback: Callable[..., None]
    cancel_event: CancelEvent
    model: Any = None


SPECIAL: dict[str, Callable[[BodyContext], Any]] = {
    "out": lambda context: context.out(),
    "inputs": lambda context: context.inputs,
    "status_callback": lambda context: context.status_callback,
    "cancel_event": lambda context: context.cancel_event,
    "job": lambda context: context.job,
    "model": lambda context: context.model,
    "model_handle": lambda context: context.model,
}


class BadOutput(Exception):
    """A body returned a value that cannot be stored."""


class ImportFailed(Exception):
    """The code of a task could not be imported; the cause says why."""


class ModelFailed(Exception):
    """The model that a body needs could not be loaded; the cause says why."""

    def __init__(self, name: str, cause: BaseException) -> None:
        super().__init__(f"model {name!r} could not be loaded: {type(cause).__name__}: {cause}")
        self.__cause__ = cause


class Body:
    """A function and the source of each of its parameters; inspected once, called for every job."""

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

    def __call__(self, context: BodyContext) -> Any:
        """Run the function, and wait for its result if it is async. Raises what it raises, and
        TypeError if an input is missing."""
        arguments = self._arguments(context)
        positional = [arguments.pop(name) for name in self._positional if name in arguments]
        result = self.function(*positional, **arguments)
        if result is None or isinstance(result, dict):  # the usual case; isawaitable is slower
            return result
        return asyncio.run(_wait_for(result)) if inspect.isawaitable(result) else result

    def _arguments(self, context: BodyContext) -> dict[str, Any]:
        arguments = {}
        for parameter in self._named:
            name, optional = parameter.name, parameter.default is not parameter.empty
            if name in SPECIAL:
                arguments[name] = SPECIAL[name](context)
            elif context.inputs.get(name) is not None:
                arguments[name] = self._coerce(name, context.inputs[name])
            elif name in context.inputs and not optional:
                arguments[name] = None
            elif not optional:
                raise TypeError(f"{self.name}() needs the input {name!r}, which is missing")
        if self._takes_rest:
            taken = {parameter.name for parameter in self._named}
            arguments.update(
                (name, value) for name, value in context.inputs.items() if name not in taken
            )
        return arguments

    def _coerce(self, name: str, value: Any) -> Any:
        return Path(value) if name in self._paths and isinstance(value, str) else value


def _plain(value: object) -> str:
    if isinstance(value, PurePath):
        return str(value)
    raise TypeError(f"it contains a value of type {type(value).__name__}")


OUTPUT_TO_JSON = json.JSONEncoder(allow_nan=False, ensure_ascii=False, default=_plain).encode


def encode_output(result: Any, limit: int) -> bytes:
    """The JSON text of a body's result, at most `limit` bytes. None becomes {}, a Path its text.
    Raises BadOutput."""
    if result is None:
        return b"{}"
    if not isinstance(result, dict):
        raise BadOutput(f"a body must return a dict or None, not a {type(result).__name__}")
    try:
        text = OUTPUT_TO_JSON(result).encode()
    except (TypeError, ValueError, RecursionError) as error:  # UnicodeEncodeError is a ValueError
        raise BadOutput(f"the output is not JSON: {error}") from None
    if b"\\u0000" in text and NUL.search(text):
        raise BadOutput("the output contains a NUL character, which Postgres cannot store")
    if len(text) > limit:
        raise BadOutput(
            f"the output has {len(text)} bytes, the limit is {limit} (QW005): "
            "write a file and return its path"
        )
    return text


async def _wait_for(result: Awaitable[Any]) -> Any:
    return await result


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except Exception:  # a name that only a type checker sees: use the text of the annotation
        return {}


def _is_path(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return re.search(r"\bPath\b", annotation) is not None
    if typing.get_origin(annotation) in (Union, types.UnionType):
        return any(_is_path(member) for member in typing.get_args(annotation))
    return isinstance(annotation, type) and issubclass(annotation, PurePath)
