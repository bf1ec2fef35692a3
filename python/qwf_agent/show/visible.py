"""Texts of others on a terminal: what would steer the terminal is shown instead of obeyed."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

# Control characters become their pictures; C1 controls and what turns the direction of text, a box.
_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"}
_BOXES = dict.fromkeys([*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], 0xFFFD)
_STEERING = {**_PICTURES, 0x7F: 0x2421, **_BOXES}


def visible(text: str) -> str:
    """The text with nothing in it that a terminal would obey but line ends and tabs."""
    return text.translate(_STEERING)


class Terminal(Console):
    """A console whose colours and moves are its own: none come from the texts it prints."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """What `renderable` prints, made visible."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))
