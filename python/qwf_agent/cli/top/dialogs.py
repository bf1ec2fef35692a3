"""The dialogs of `qwf top`: confirm an action, type an answer, see a job in full."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.console import RenderableType
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from qwf_agent.look import draw


class ConfirmDialog(ModalScreen[bool]):
    """Asks before an action; True for yes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("y,enter", "dismiss(True)", "Yes"),
        ("n,escape,q", "dismiss(False)", "No"),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """The question and its keys."""
        with Vertical(classes="dialog"):
            yield Static(self._question, markup=False)
            yield Static("y  yes      n  no", classes="quiet", markup=False)


class AnswerDialog(ModalScreen[str | None]):
    """Shows a question and takes an answer; None if it is left open."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss(None)", "Leave it open")]

    def __init__(self, asked: dict[str, Any]) -> None:
        super().__init__()
        self._asked = asked

    def compose(self) -> ComposeResult:
        """The question, its options, and where to type."""
        with Vertical(classes="dialog"):
            with VerticalScroll(classes="question"):
                yield Static(draw.Visible(draw.question(self._asked)))
            yield Input(placeholder="#1, true, text or JSON; Enter sends, Esc leaves it open")

    def on_mount(self) -> None:
        """Focus the input."""
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the answer."""
        if event.value.strip():
            self.dismiss(event.value.strip())


class DetailsDialog(ModalScreen[None]):
    """A job in full."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,enter", "dismiss(None)", "Back")]

    def __init__(self, content: RenderableType) -> None:
        super().__init__()
        self._content = content

    def compose(self) -> ComposeResult:
        """The job."""
        with Vertical(classes="dialog details"):
            with VerticalScroll() as scroll:
                scroll.can_focus = True
                yield Static(draw.Visible(self._content))
            yield Static("Esc  back", classes="quiet", markup=False)
