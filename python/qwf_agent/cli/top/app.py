"""The screen of `qwf top`: a headline, queues, boxes, and four lists with keys."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar

import psycopg
from rich.console import Group
from rich.terminal_theme import TerminalTheme
from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.timer import Timer
from textual.widgets import ContentSwitcher, Footer, Static, Tab, Tabs

from qwf_agent.cli.top import panels
from qwf_agent.cli.top.dialogs import AnswerDialog, ConfirmDialog, DetailsDialog
from qwf_agent.cli.top.fleet import FleetConnection, Glance, reason
from qwf_agent.cli.top.lists import LISTS, ListTable
from qwf_agent.look import draw

LOW = 30  # lines; on a lower screen the panels are short
SHARE = 10  # reading takes at most a tenth of the time


# The sixteen colours of a terminal, chosen for the dark background of the screen.
COLOURS = TerminalTheme(
    (18, 18, 18),
    (224, 224, 224),
    [(40, 40, 40), (244, 96, 96), (120, 200, 100), (230, 190, 90),
     (100, 160, 240), (210, 130, 220), (90, 200, 210), (210, 210, 210)],
    [(150, 150, 150), (255, 120, 120), (150, 220, 130), (250, 210, 120),
     (130, 180, 255), (230, 150, 240), (120, 220, 230), (255, 255, 255)],
)  # fmt: skip


class Top(App[None]):
    """Reads the fleet regularly in a thread and shows it. Keys act on the selected row."""

    TITLE = "qwf top"
    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = "top.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "narrow"), (120, "wide")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "list('running')", "running", show=False),
        Binding("2", "list('failed')", "failed", show=False),
        Binding("3", "list('questions')", "questions", show=False),
        Binding("4", "list('workers')", "workers", show=False),
        Binding("left", "next(-1)", show=False, priority=True),
        Binding("right,tab", "next(1)", "next list", key_display="←→", priority=True),
        Binding("i", "details", "info"),
        Binding("c", "cancel", "cancel"),
        Binding("r", "retry", "retry"),
        Binding("a", "answer", "answer"),
        Binding("o", "switch('on', 'hard')", "on"),
        Binding("x", "switch('off', 'hard')", "off"),
        Binding("d", "switch('off', 'drain')", "drain"),
        Binding("p", "switch('off', 'pause')", "pause"),
        Binding("space", "freeze", "freeze"),
        Binding("q", "quit", "quit"),
    ]

    def __init__(self, fleet: FleetConnection, every: float = 1.0) -> None:
        super().__init__()
        self.ansi_theme_dark = COLOURS
        self._fleet = fleet
        self._every = every
        self._seen = Glance()
        self._trouble = ""
        self._frozen = False
        self._next: Timer | None = None

    def compose(self) -> ComposeResult:
        """Headline, panels, lists, keys."""
        yield Static(id="headline")
        with Container(id="panels"):
            yield Static(id="queues", classes="panel")
            yield Static(id="hosts", classes="panel")
        yield Tabs(*(Tab(name, id=f"tab-{name}") for name in LISTS))
        with ContentSwitcher(initial="running"):
            for name in LISTS:
                yield ListTable(name)
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Read at once, then regularly."""
        self.query_one("#queues").border_title = "queues"
        self.query_one("#hosts").border_title = "boxes"
        self._table().focus()
        self.look()

    def on_resize(self) -> None:
        """Fit the columns to the new width."""
        self.call_after_refresh(self._draw)

    def on_tabs_tab_activated(self, event: Tabs.TabActivated) -> None:
        """Show the list of the tab, unless another one was chosen since."""
        if event.tab.id == event.tabs.active:
            self.action_list(event.tabs.active.removeprefix("tab-"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only the keys that work on the list shown; only quit while a dialog is open."""
        if len(self.screen_stack) > 1:
            return action == "quit"
        of_lists = frozenset[str]().union(*(one.actions for one in LISTS.values()))
        return action not in of_lists or action in LISTS[self._current()].actions

    # Reading ------------------------------------------------------------------------------------

    @work(thread=True, exclusive=True, group="look")
    def look(self) -> None:
        """Read a snapshot and show it. The longer it takes, the later the next one."""
        started = time.monotonic()
        try:
            seen, trouble = self._fleet.look(), ""
        except psycopg.Error as error:
            seen, trouble = self._seen, f"no database: {reason(error)}"
        except Exception as error:  # no value in a database may end the screen
            seen, trouble = self._seen, f"cannot read the fleet: {reason(error)}"
        self.call_from_thread(self._show, seen, trouble, time.monotonic() - started)

    def _show(self, seen: Glance, trouble: str, took: float) -> None:
        if not self._frozen:
            self._seen, self._trouble = seen, trouble
            self._draw()
        if self._next is not None:
            self._next.stop()
        self._next = self.set_timer(max(self._every, SHARE * took), self.look)

    def _draw(self) -> None:
        if not self.query("#headline"):  # the app is closing
            return
        try:
            self._draw_fleet()
        except Exception as error:  # no value in a database may end the screen
            head = panels.headline([], [], [], f"cannot draw the fleet: {reason(error)}")
            self.query_one("#headline", Static).update(head)

    def _draw_fleet(self) -> None:
        seen = self._seen
        lines = 3 if self.size.height < LOW else 10
        head = panels.headline(seen.queues, seen.questions, seen.failed, self._trouble)
        if self._frozen:
            head.append("frozen", "reverse")
        self.query_one("#headline", Static).update(head)
        self.query_one("#queues", Static).update(panels.queues(seen.queues, lines))
        boxes = panels.hosts(seen.boxes, seen.workers, seen.servers, lines + 2)
        self.query_one("#hosts", Static).update(draw.Visible(boxes))
        for name, rows in (
            ("running", seen.running),
            ("failed", seen.failed),
            ("questions", seen.questions),
            ("workers", seen.workers),
        ):
            self.query_one(f"#{name}", ListTable).fill(rows, self.size.width)
            number = f" {len(rows)}" if rows else ""
            self.query_one(f"#tab-{name}", Tab).label = f"{name}{number}"

    # Acting -------------------------------------------------------------------------------------

    def action_list(self, name: str) -> None:
        """Show the list with that name at once: the tab says so only later."""
        self.query_one(Tabs).active = f"tab-{name}"
        self.query_one(ContentSwitcher).current = name
        self._table().focus()
        self.refresh_bindings()

    def action_next(self, step: int) -> None:
        """Show the next list."""
        names = list(LISTS)
        self.action_list(names[(names.index(self._current()) + step) % len(names)])

    def action_freeze(self) -> None:
        """Stop or resume updating."""
        self._frozen = not self._frozen
        self._draw()

    def action_cancel(self) -> None:
        """Cancel the selected job."""
        row = self._row()
        if row:
            question = f"Cancel job {row['id']} ({row['node_id'] or row['task']})?"
            if row["run_id"] is not None:
                question += f"\nThat cancels its run {row['run_id']}."
            self._ask(
                question, lambda: self._fleet.cancel(row["id"]), f"job {row['id']} is told to stop"
            )

    def action_retry(self) -> None:
        """Retry the selected job."""
        row = self._row()
        if row:
            question = f"Run job {row['id']} ({row['node_id'] or row['task']}) again?"
            self._ask(
                question, lambda: self._fleet.retry(row["id"]), f"job {row['id']} is queued again"
            )

    def action_switch(self, state: str, policy: str) -> None:
        """Switch the selected worker."""
        row = self._row()
        if not row:
            return
        host, queue = row["host"], row["queue"]
        words = {"on": "on"}.get(
            state, {"hard": "off", "drain": "off after the running jobs"}.get(policy, "paused")
        )

        def switch() -> None:
            self._fleet.switch(host, queue, state, policy)

        if policy == "hard" and state == "off":
            self._ask(
                f"Kill the bodies of {queue} on {host}, and hand their jobs to others?",
                switch,
                f"{host} {queue}: off",
            )
        else:
            self.do(switch, f"{host} {queue}: {words}")

    def action_answer(self) -> None:
        """Answer the selected question."""
        row = self._row()
        if not row:
            return
        question = row

        def answered(text: str | None) -> None:
            if text is not None:
                self.do(lambda: self._fleet.answer(question, text), "answered")

        self.push_screen(AnswerDialog(question), answered)

    def action_details(self) -> None:
        """Show the selected job in full."""
        row = self._row()
        if row:
            self.fetch(row["job_id"] if "job_id" in row else row["id"])

    def on_data_table_row_selected(self) -> None:
        """Enter was pressed on a row."""
        if self.check_action("details", ()):
            self.action_details()

    @work(thread=True)
    def do(self, what: Callable[[], None], done: str) -> None:
        """Do it in a thread, say that it is done or why not, and update."""
        try:
            what()
        except Exception as error:
            self.call_from_thread(self.notify, reason(error), severity="error", markup=False)
            return
        self.call_from_thread(self.notify, done, markup=False)
        self.call_from_thread(self.look)

    @work(thread=True)
    def fetch(self, job: int) -> None:
        """Read a job and show it."""
        try:
            row, attempts, events = self._fleet.job(job)
            content = Group(
                draw.headline(row),
                draw.facts(row, ["queue", "inputs", "output"]),
                Text("\ntimeline", "bright_black"),
                draw.timeline(row, attempts, events),
                *(draw.attempt(attempt) for attempt in attempts[-1:]),
            )
        except Exception as error:
            self.call_from_thread(self.notify, reason(error), severity="error", markup=False)
            return
        self.call_from_thread(self.push_screen, DetailsDialog(content))

    def _ask(self, question: str, what: Callable[[], None], done: str) -> None:
        def answered(sure: bool | None) -> None:
            if sure:
                self.do(what, done)

        self.push_screen(ConfirmDialog(question), answered)

    def _current(self) -> str:
        return self.query_one(ContentSwitcher).current or "running"

    def _table(self) -> ListTable:
        return self.query_one(f"#{self._current()}", ListTable)

    def _row(self) -> dict[str, Any] | None:
        """The selected row of the list that is shown."""
        return self._table().row()
