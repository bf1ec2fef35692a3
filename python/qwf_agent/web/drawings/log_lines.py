"""A log as lines with numbers, in the colours that a program has chosen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from qwf_agent.look.draw.visible import ESCAPES, last_written, visible

COLOUR = re.compile(r"\x1b\[([0-9;]*)m")
# What begins a report of an error, in most languages.
ERROR = re.compile(r"\b(?:[A-Z]\w*)?(?:Error|Exception)\b|^Traceback|\b(?:ERROR|FATAL|panic):?")


@dataclass(frozen=True)
class LogLine:
    """A line: its number, and its pieces, each with the class of its colour or with none."""

    number: int
    pieces: tuple[tuple[str, str], ...]
    is_error: bool


@dataclass(frozen=True)
class Log:
    """Lines, and the number of the first that looks like an error."""

    lines: tuple[LogLine, ...]
    first_error: int | None


def read(text: str) -> Log:
    """The lines of a log. A colour goes on over the ends of lines, as in a terminal."""
    found: list[LogLine] = []
    state = ""
    for number, line in enumerate(last_written(text).split("\n"), 1):
        pieces, state = _pieces(line, state)
        shown = tuple((kind, visible(piece)) for kind, piece in pieces if piece)
        is_error = ERROR.search("".join(piece for _, piece in shown)) is not None
        found.append(LogLine(number, shown, is_error))
    if found and not found[-1].pieces:
        found.pop()  # what follows the last end of a line
    errors = (line.number for line in found if line.is_error)
    return Log(tuple(found), next(errors, None))


def _pieces(line: str, state: str) -> tuple[list[tuple[str, str]], str]:
    """The pieces of a line that begins in a colour, and the colour at its end."""
    pieces: list[tuple[str, str]] = []
    at = 0
    for order in COLOUR.finditer(line):
        pieces.append((state, ESCAPES.sub("", line[at : order.start()])))
        state, at = _class(state, order[1]), order.end()
    pieces.append((state, ESCAPES.sub("", line[at:])))
    return pieces, state


def _class(state: str, codes: str) -> str:
    """The classes after an order to a terminal: one of eight colours, and bold."""
    colour = next(iter(re.findall(r"ansi-\d", state)), "")
    bold = "bold" in state
    for code in _codes(codes):
        if code == 0:
            colour, bold = "", False
        elif code in (1, 22):
            bold = code == 1
        elif code == 39:
            colour = ""
        elif 30 <= code <= 37 or 90 <= code <= 97:
            colour = f"ansi-{code % 10}"
    return " ".join(part for part in (colour, "bold" if bold else "") if part)


def _codes(codes: str) -> Iterator[int]:
    """The numbers of an order, without those that say which of 256 or more colours it is."""
    numbers = iter(int(code or 0) for code in codes.split(";"))
    for number in numbers:
        if number in (38, 48):
            for _ in range({5: 1, 2: 3}.get(next(numbers, 0), 0)):
                next(numbers, 0)
        else:
            yield number
