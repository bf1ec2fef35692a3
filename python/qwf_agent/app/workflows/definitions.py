"""Functions as pipelines and workflows: `compile()` calls one, and takes what it adds."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from qwf_agent.app.options import json_of
from qwf_agent.app.workflows import keys as kinds
from qwf_agent.app.workflows.parts import Parts, current
from qwf_agent.app.workflows.references import plain

if TYPE_CHECKING:
    from qwf_agent.app.workflows.keys import Kind

NAME = re.compile(r"[a-z][a-z0-9_.-]{0,62}")


class Definition:
    """A pipeline or a workflow, written as a function."""

    kind: str
    part: str  # what it consists of
    known: Kind

    def __init__(
        self, function: Callable[..., Any], name: str | None, given: Mapping[str, Any]
    ) -> None:
        self.parameters = _parameters(function, self.kind)
        self.function = function
        self.name = function.__name__ if name is None else name
        if not NAME.fullmatch(self.name):
            raise ValueError(
                f"{self.name!r} is no name for a {self.kind}: use 1 to 63 lower case letters, "
                "digits, dots, dashes and _, the first a letter"
            )
        self._given = given

    def __repr__(self) -> str:
        return f"{self.kind} {self.name!r}"

    def compile(self) -> dict[str, Any]:
        """The definition, as `qwf apply` reads it. Raises TypeError and ValueError for what no
        definition can say, and whatever the function raises."""
        return self.build().content

    def build(self) -> Built:
        """The definition, and the pipelines that it names as objects. Raises what `compile()`
        raises."""
        parts = Parts(self)
        token = current.set(parts)
        try:
            outputs = self._outputs(self.function(**parts.references), parts)
        finally:
            current.reset(token)
        head = parts.plain_keys(repr(self), self._given, self.known)
        if "schema" in head:
            head = {"$schema": head.pop("schema"), **head}
        content = {"name": self.name, **head, **outputs, f"{self.part}s": parts.content()}
        return Built(content, parts.pipelines)

    def _outputs(self, returned: object, parts: Parts) -> dict[str, Any]:
        if returned is not None:
            raise TypeError(f"{self!r} has no outputs, so its function returns nothing")
        return {}


class Pipeline(Definition):
    """A pipeline, written as a function of its inputs. A `step` runs it."""

    kind, part, known = "pipeline", "node", kinds.PIPELINE

    def _outputs(self, returned: object, parts: Parts) -> dict[str, Any]:
        if returned is None:
            return {}
        if not isinstance(returned, Mapping):
            raise TypeError(
                f"the function of {self!r} returns its outputs by name, as a dict, not {returned!r}"
            )
        what = f"the outputs of {self!r}"
        outputs = plain(returned, what, parts)
        json_of(f"{what} are", outputs)
        return {"outputs": outputs}


class Workflow(Definition):
    """A workflow, written as a function of the keys of its context."""

    kind, part, known = "workflow", "step", kinds.WORKFLOW


class Built(NamedTuple):
    """A definition as JSON has it, and the pipelines that its steps name as objects."""

    content: dict[str, Any]
    pipelines: list[Pipeline]


def _parameters(function: Callable[..., Any], kind: str) -> list[str]:
    """The names of the parameters of a function. Raises TypeError unless it is a plain function
    with plain parameters."""
    odd = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    if not inspect.isfunction(function) or any(is_odd(function) for is_odd in odd):
        raise TypeError(f"@{kind}() takes a function without async and yield, not {function!r}")
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    for one in inspect.signature(function).parameters.values():
        if one.kind not in named or one.default is not one.empty:
            raise TypeError(
                f"the parameter {str(one)!r} of {function.__name__}() is not a plain name. "
                "Every parameter is a reference; a default is written ref(name, default=...)"
            )
    return [*inspect.signature(function).parameters]
