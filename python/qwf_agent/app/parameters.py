"""The parameters of a function: which arguments, and which parameters the agent fills."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from qwf_agent.app.options import KINDS
from qwf_agent.app.values import suggestion

# The parameters that the agent fills. If a function has one of them, no argument can have its name.
FILLED = (
    "cancel_event", "checkpoint", "inputs", "job", "llm", "model", "model_handle", "out",
    "status_callback", "stopping", "track",
)  # fmt: skip

# A default for such a parameter: it tells type checkers that `enqueue` does not take it.
FROM_AGENT: Any = None


class Parameters:
    """The parameters of a function; inspected once, compared with the arguments of every job."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function_name = getattr(function, "__name__", str(function))
        kinds = inspect.Parameter
        parameters = inspect.signature(function).parameters.values()
        self.takes_rest = any(p.kind is kinds.VAR_KEYWORD for p in parameters)
        self.named = [
            p for p in parameters if p.kind not in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)
        ]
        self.arguments = {p.name for p in self.named if p.name not in FILLED}
        self.defaults = {
            p.name: p.default
            for p in self.named
            if p.name in self.arguments and p.default is not p.empty
        }
        self._filled = {p.name for p in self.named} - self.arguments
        self._takes_any = self.takes_rest or "inputs" in self._filled
        self._required = {
            p.name for p in self.named if p.name in self.arguments and p.default is p.empty
        }

    def problem(self, given: Mapping[str, Any]) -> str | None:
        """Problems of the arguments of a job: one that the function does not take, or one
        that is missing. None if nothing is."""
        names = given.keys()
        fits = self._filled.isdisjoint(names) if self._takes_any else names <= self.arguments
        if fits and self._required <= names:
            return None
        for name in given:
            if name in self._filled:
                return (
                    f"{self.function_name}() cannot take the argument {name!r}: the agent fills "
                    f"the parameters {', '.join(FILLED)}; rename the parameter and the argument"
                )
            if not self._takes_any and name not in self.arguments:
                return (
                    f"{self.function_name}() does not take the argument {name!r}; "
                    f"{suggestion(name, self.arguments)}"
                )
        missing = next(p.name for p in self.named if p.name in self._required - names)
        return f"{self.function_name}() needs the argument {missing!r}, which is missing"

    def bind(self, values: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call by their names. Raises TypeError for one that is unknown,
        missing, given twice, or the name of an option."""
        order = [p.name for p in self.named if p.kind is not p.KEYWORD_ONLY]
        if len(values) > len(order):
            raise TypeError(
                f"{self.function_name}() takes {len(order)} arguments by position, "
                f"not {len(values)}"
            )
        by_position = dict(zip(order, values, strict=False))
        for name in named:
            if name in by_position:
                raise TypeError(f"{self.function_name}() got the argument {name!r} twice")
            if name in KINDS and name not in self.arguments:
                raise TypeError(
                    f"{name} is an option, not an argument of {self.function_name}(): write "
                    f"{self.function_name}.options({name}=...).enqueue(...)"
                )
        given = {**by_position, **named}
        problem = self.problem(given)
        if problem is not None:
            raise TypeError(problem)
        return given
