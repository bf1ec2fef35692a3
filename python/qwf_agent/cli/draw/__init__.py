"""Draws runs, jobs and lists for a terminal from plain rows, without a database."""

from __future__ import annotations

from qwf_agent.cli.draw.jobs import attempt, headline, options, question, shown, timeline
from qwf_agent.cli.draw.lists import NUMBERS, cell, facts, fit, rows
from qwf_agent.cli.draw.runs import board, changes, files, run
from qwf_agent.cli.draw.visible import Visible, visible, visible_values
from qwf_agent.cli.draw.words import (
    LOOKS,
    OVER,
    TROUBLE,
    Row,
    bar,
    brief,
    by_trouble,
    duration,
    gist,
    moment,
    queue_state,
    served,
    server_error,
    server_state,
    size,
    spell,
    state,
    tries,
)

__all__ = [
    "LOOKS",
    "NUMBERS",
    "OVER",
    "TROUBLE",
    "Row",
    "Visible",
    "attempt",
    "bar",
    "board",
    "brief",
    "by_trouble",
    "cell",
    "changes",
    "duration",
    "facts",
    "files",
    "fit",
    "gist",
    "headline",
    "moment",
    "options",
    "question",
    "queue_state",
    "rows",
    "run",
    "served",
    "server_error",
    "server_state",
    "shown",
    "size",
    "spell",
    "state",
    "timeline",
    "tries",
    "visible",
    "visible_values",
]
