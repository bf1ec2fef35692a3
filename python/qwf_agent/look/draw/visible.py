"""Makes foreign text safe for a terminal: unseen characters are shown, not executed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment

from qwf_agent.system.log_pipe import last_writing

SHOWN_AS_IS = "\n\t"
# Unicode categories of what a reader does not see or what moves other characters: control and
# format characters, surrogates, separators of lines and paragraphs.
UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
BOX = "\ufffd"
BLANK = dict.fromkeys(map(ord, "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"), BOX)  # unseen letters


# What sets colours and titles of a terminal or moves its cursor: CSI, OSC and the short escapes.
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])")


class _Symbols(dict[int, str]):
    """The visible form of each character, worked out at its first use."""

    def __missing__(self, code: int) -> str:
        one = chr(code)
        if one in SHOWN_AS_IS or unicodedata.category(one) not in UNSEEN:
            shown = one
        elif code < 0x20:
            shown = chr(0x2400 + code)
        else:
            shown = "\u2421" if code == 0x7F else BOX
        self[code] = shown
        return shown


_SYMBOLS = _Symbols(BLANK)


def visible(text: str) -> str:
    """The text with a symbol for each character that a reader could not see.

    Line ends and tabs stay. A joined emoji is shown as its parts: what joins them could hide text.
    """
    return text if text.isascii() and text.isprintable() else text.translate(_SYMBOLS)


def one_line(text: str, longest: int) -> str:
    """A name of somebody else's as one short line."""
    line = visible(" ".join(text[: 2 * longest].split()))
    return line if len(line) <= longest else f"{line[: longest - 1]}\u2026"


def without_escapes(text: str) -> str:
    """The output of a program, without its orders to a terminal, such as colours."""
    return ESCAPES.sub("", text) if "\x1b" in text else text


def last_written(text: str) -> str:
    """The output of a program, of each line what follows its last carriage return. Workers in other
    languages send it as it came."""
    return last_writing(text.encode(), ended=True).decode() if "\r" in text else text


def printed(text: str) -> str:
    """The output of a program as a terminal shows it in the end, without orders to the terminal."""
    return without_escapes(last_written(text))


def visible_values(value: Any) -> Any:
    """The value with all its texts visible, also those in lists and objects.

    Rich drops some control characters from a text; so this comes before drawing.
    """
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible_values(key): visible_values(item) for key, item in value.items()}
    return [visible_values(item) for item in value] if isinstance(value, list) else value


@dataclass(frozen=True)
class Visible:
    """Content made visible, for a screen that is not printed through a Terminal."""

    content: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from _made_visible(console.render(self.content, options))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self.content)


class Terminal(Console):
    """A console on which printed texts cannot set colours or move the cursor."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The output of `renderable`, made visible."""
        return _made_visible(super().render(renderable, options))


def _made_visible(segments: Iterable[Segment]) -> Iterator[Segment]:
    for segment in segments:
        yield segment if segment.control else segment._replace(text=visible(segment.text))
