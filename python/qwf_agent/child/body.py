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
from typing import Any, Union

from qwf_agent.app.bodies import Call
from qwf_agent.app.parameters import Parameters
from qwf_agent.app.values import has_nul, path_to_text, place_in
from qwf_agent.child.job_context import JobContext
from qwf_agent.child.scoreboard import LISTENS, MAY_ASK, NOTHING

# One for each name in FILLED of qwf_agent.app.parameters.
FILL: dict[str, Callable[[JobContext], Any]] = {
    "out": lambda context: context.out(),
    "inputs": lambda context: context.inputs,
    "checkpoint": lambda context: context.checkpoint,
    "status_callback": lambda context: context.status_callback,
    "track": lambda context: context.track,
    "cancel_event": lambda context: context.events.cancel,
    "stopping": lambda context: context.events.stopping,
    "job": lambda context: context.job,
    "model": lambda context: context.model,
    "model_handle": lambda context: context.model,
    "llm": lambda context: context.model,
}

# A required parameter of one of these types takes no null. Other types are not looked at.
NOT_NULL = (int, float, bool, str, list, dict, Path)


class WrongArguments(Exception):
    """The job has an argument that the body does not take, or lacks one that it needs. `is_null`:
    the argument is there, but null."""

    def __init__(self, problem: str, is_null: bool = False) -> None:
        super().__init__(problem)
        self.is_null = is_null


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
        self._parameters = Parameters(function)
        named, hints = self._parameters.named, _hints(function)
        types_of = {p.name: hints.get(p.name, p.annotation) for p in named}
        self._positional = [p for p in named if p.kind is p.POSITIONAL_ONLY]
        self._takes_nothing = not named
        self.hears = (
            LISTENS if "stopping" in types_of else MAY_ASK if "job" in types_of else NOTHING
        )
        self._paths = {name for name, annotation in types_of.items() if _is_path(annotation)}
        self._not_null = {
            p.name: types_of[p.name].__name__
            for p in named
            if p.default is p.empty and any(types_of[p.name] is one for one in NOT_NULL)
        }
        self._replace_null = {
            p.name for p in named if p.default is not p.empty and not _allows_none(types_of[p.name])
        }

    def __call__(self, context: JobContext) -> Any:
        """Run the function, and wait for its result if it is async. Raises what it raises, and
        WrongArguments."""
        result = self.start(context)
        if result is None or isinstance(result, dict):  # the usual case; isawaitable is slower
            return result
        return asyncio.run(_wait_for(result)) if inspect.isawaitable(result) else result

    def start(self, context: JobContext) -> Any:
        """Call the function; what it returns may have to be awaited."""
        if self._takes_nothing and not context.inputs:
            return self.function()
        arguments = self._arguments(context)
        positional = [arguments.pop(p.name, p.default) for p in self._positional]
        return self.function(*positional, **arguments)

    def run_batch(self, calls: list[Call], context: JobContext) -> Any:
        """Call the body of a batch, and wait for its result if it is async. The parameters that the
        agent fills are those of `context`."""
        names = [p.name for p in self._parameters.named if p.name in FILL]
        result = self.function(calls, **{name: FILL[name](context) for name in names})
        return asyncio.run(_wait_for(result)) if inspect.isawaitable(result) else result

    def _arguments(self, context: JobContext) -> dict[str, Any]:
        inputs = context.inputs
        problem = self._parameters.problem(inputs)
        if problem is not None:
            raise WrongArguments(problem)
        arguments = dict(inputs) if self._parameters.takes_rest else {}
        for parameter in self._parameters.named:
            name = parameter.name
            if name in FILL:
                arguments[name] = FILL[name](context)
            elif name in inputs:
                if inputs[name] is None and name in self._replace_null:
                    arguments.pop(name, None)
                elif inputs[name] is None and name in self._not_null:
                    raise WrongArguments(
                        f"{self._parameters.function_name}() needs the argument {name!r}, which is "
                        f"null: give it a value, or declare {name}: {self._not_null[name]} | None",
                        is_null=True,
                    )
                else:
                    arguments[name] = self._coerce(name, inputs[name])
        return arguments

    def _coerce(self, name: str, value: Any) -> Any:
        return Path(value) if name in self._paths and isinstance(value, str) else value


OUTPUT_TO_JSON = json.JSONEncoder(allow_nan=False, ensure_ascii=False, default=path_to_text).encode


def encode_output(result: Any, limit: int) -> bytes:
    """The JSON text of a body's result, at most `limit` bytes. None becomes {}, a Path its text.
    Raises BadOutput."""
    if result is None:
        return b"{}"
    if not isinstance(result, dict):
        raise BadOutput(f"a body must return a dict or None, not a {type(result).__name__}")
    try:
        text = OUTPUT_TO_JSON(result)
        encoded = text.encode()
    except (UnicodeEncodeError, RecursionError) as error:
        raise BadOutput(f"the output is not JSON: {error}") from None
    except (TypeError, ValueError) as error:
        raise BadOutput(f"the output is not JSON: {error}{place_in(result)}") from None
    if has_nul(text):
        raise BadOutput("the output contains a NUL character, which Postgres cannot store")
    if len(encoded) > limit:
        raise BadOutput(
            f"the output has {len(encoded)} bytes, the limit is {limit} (QW005): "
            "write a file and return its path"
        )
    return encoded


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
    return any(isinstance(one, type) and issubclass(one, PurePath) for one in _members(annotation))


def _allows_none(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return re.search(r"\b(None|Optional)\b", annotation) is not None
    return any(one in (None, type(None)) for one in _members(annotation))


def _members(annotation: Any) -> tuple[Any, ...]:
    """The types that a union allows; of anything else, the thing itself."""
    is_union = typing.get_origin(annotation) in (Union, types.UnionType)
    return typing.get_args(annotation) if is_union else (annotation,)
