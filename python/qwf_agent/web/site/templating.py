"""How templates become HTML: what they print is made visible and escaped in one step.

A list prints some thousand values, so each step of Jinja that does nothing for our values is left
out here.
"""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any

from jinja2 import Environment, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.runtime import Context, Macro, markup_join
from markupsafe import Markup, escape

from qwf_agent.look.draw.visible import visible

# What is shown as it is: visible ASCII that means nothing in HTML, and ends of lines.
PLAIN = re.compile(r"[ !#-%(-;=?-~\n\t]*").fullmatch
OF_DICTS = frozenset(dir(dict))  # `x.items` of a template is the method


def shown(value: Any) -> str:
    """A value as a page shows it, escaped: unseen characters get a symbol, None is nothing."""
    kind = type(value)
    if kind is str:
        return value if PLAIN(value) else escape(visible(value))
    if kind is Markup:
        return value  # type: ignore[no-any-return]
    if kind is int:
        return str(value)
    return escape(finalized(value))


def exact(value: Any) -> str:
    """A value as a field of a form has it, escaped: it is sent back, so not a character changes.
    Unseen characters are written as references."""
    if type(value) is int:
        return str(value)
    if isinstance(value, timedelta):
        value = f"{value // timedelta(microseconds=1) / Decimal(10**6):f} s"
    return escape("" if value is None else value).translate(_REFERENCES)


class _References(dict[int, str]):
    """The reference of each unseen character, worked out at its first use. To browsers those from
    0x80 to 0x9f mean other characters, so they stay as they are."""

    def __missing__(self, code: int) -> str:
        seen = visible(chr(code)) == chr(code) or 0x80 <= code < 0xA0
        self[code] = chr(code) if seen else f"&#{code};"
        return self[code]


_REFERENCES = _References()


def finalized(value: Any) -> Any:
    """A value as a page shows it, before it is escaped."""
    if value is None:
        return ""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def joined(parts: tuple[Any, ...]) -> str:
    """The parts of `a ~ b`, as one text."""
    for part in parts:
        if type(part) is not str and type(part) is not int:
            return markup_join(parts)
    return "".join(map(str, parts))


class Compiler(CodeGenerator):
    """Writes templates as Python that calls `shown` and `joined`."""

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        if frame.eval_ctx.volatile or not frame.eval_ctx.autoescape:
            super()._output_child_pre(node, frame, finalize)
        else:
            self.write("environment.shown(")

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        if frame.eval_ctx.volatile or not frame.eval_ctx.autoescape:
            super()._output_child_post(node, frame, finalize)
        else:
            self.write(")")

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        """`a ~ b`."""
        if frame.eval_ctx.volatile or not frame.eval_ctx.autoescape:
            super().visit_Concat(node, frame)
            return
        self.write("environment.joined((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")


class Calls(Context):
    """Calls macros and functions of ours at once, everything else as Jinja does."""

    def call(self, called: Any, /, *args: Any, **given: Any) -> Any:
        """`called(...)`."""
        if type(called) is Macro:
            args = (self.eval_ctx, *args)
        elif type(called) is not partial:
            return super().call(called, *args, **given)
        given.pop("_block_vars", None)
        given.pop("_loop_vars", None)
        return called(*args, **given)


class Templates(Environment):
    """The environment of our templates. The attribute of a dict is first what it has under that
    key: rows of the database are dicts."""

    code_generator_class = Compiler
    context_class = Calls
    shown = staticmethod(shown)
    joined = staticmethod(joined)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """`obj.attribute`."""
        if type(obj) is dict and attribute not in OF_DICTS:
            try:
                return obj[attribute]
            except KeyError:
                return self.undefined(obj=obj, name=attribute)
        return super().getattr(obj, attribute)
