"""Makes foreign text safe for a terminal: control characters are shown, not executed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment

# Control characters become their pictures; C1 controls and those for text direction, a box.
_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"}
_BOXES = dict.fromkeys([*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], 0xFFFD)
_CONTROLS = {**_PICTURES, 0x7F: 0x2421, **_BOXES}


def visible(text: str) -> str:
    """The text without control characters, except line ends and tabs."""
    return text.translate(_CONTROLS)


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
        """What `renderable` prints, made visible."""
        return _made_visible(super().render(renderable, options))


def _made_visible(segments: Iterable[Segment]) -> Iterator[Segment]:
    for segment in segments:
        yield segment if segment.control else segment._replace(text=visible(segment.text))
