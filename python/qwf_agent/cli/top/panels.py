"""The headline and the two panels above the lists: queues, and boxes with bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from qwf_agent.look import draw
from qwf_agent.look.draw import Row
from qwf_agent.look.fleet import COUNTED, sums

BAR = 8
LONGEST = 24  # characters of a box's name
MIB = 2.0**20
SWAPPING_MB = 1024
HOT, WARM = 0.9, 0.7


def headline(
    queues: Sequence[Row], questions: Sequence[Row], failed: Sequence[Row], trouble: str
) -> Text:
    """The totals in one line, or `trouble` if there is any."""
    if trouble:
        return Text(f" {trouble.splitlines()[0]}", "bold red")
    text = Text(" qwf  ", "bold")
    all_of_them = sums(queues)
    scheduled = _count(min(all_of_them["scheduled"], COUNTED), all_of_them["more_scheduled"])
    for number, words, colour in (
        (_count(all_of_them["queued"], all_of_them["more_queued"]), "queued", "cyan"),
        (_count(all_of_them["running"]), "running", "yellow"),
        (scheduled, "scheduled", "bright_black"),
        (_count(len(questions)), "questions", "magenta"),
        (_count(len(failed)), "failed recently", "red"),
    ):
        text.append(f"{number} ", f"bold {colour}" if number != "0" else "bright_black")
        text.append(f"{words}   ", "bright_black")
    return text


def queues(rows: Sequence[Row], lines: int) -> RenderableType:
    """The queues; if there are too many, only the busiest."""
    busiest = sorted(rows, key=lambda row: -(row["queued"] + row["running"]))[: max(1, lines)]
    names = [row["queue"] for row in busiest]
    shown = [
        {
            **row,
            "queued": _count(min(row["queued"], COUNTED), row["queued"] > COUNTED),
            "first_waits": row["oldest_wait"] or 0,
            "held": ", ".join(row["held_tasks"]) or None,
        }
        for row in rows
        if row["queue"] in names
    ]
    columns = ("queue", "state", "workers", "slots", "queued", "running", "first_waits", "held")
    return draw.rows(columns, shown, "no queues")


def _count(number: int, more: bool = False) -> str:
    """A number, or that there are more than it."""
    return f">{number:,}" if more else str(number)


def hosts(
    rows: Sequence[Row], workers: Sequence[Row], servers: Sequence[Row], lines: int
) -> RenderableType:
    """The boxes, with bars for CPU, memory and GPUs.

    Below each box its model servers; if there is no room for all, only those in trouble.
    """
    known = {row["host"]: row for row in rows}
    names = sorted({*known, *(row["host"] for row in workers)})
    width = min(max((len(name) for name in names), default=0), LONGEST)
    shown = _boxes(names, known, servers, width)
    if len(shown) > lines:
        troubled = [row for row in servers if row["state"] in draw.TROUBLE]
        shown = _boxes(names, known, troubled, width)
    if len(shown) > lines:
        shown = [*shown[: lines - 1], Text("... and more", "bright_black")]
    return Group(*shown) if shown else Text("no boxes yet: qwf agent", "bright_black")


def _boxes(
    names: Sequence[str], known: Mapping[str, Row], servers: Sequence[Row], width: int
) -> list[Text]:
    """The lines of all boxes, each with its model servers."""
    lines = []
    for name in names:
        lines += _host(name, known.get(name), width)
        of_box = (row for row in servers if row["host"] == name)
        lines += [_server(row) for row in sorted(of_box, key=draw.by_trouble)]
    return lines


def _server(row: Row) -> Text:
    """One line for a model server: what it serves, or why it does not."""
    text = Text(f"  {row['server'][:LONGEST]} ", no_wrap=True, overflow="ellipsis")
    text.append_text(draw.server_state(row["state"]))
    text.append(f" {row['model'] or ''} {row['inflight']}/{row['parallel']}", "bright_black")
    if row["tokens_per_s"]:
        text.append(f" {row['tokens_per_s']:.0f} tokens/s", "bright_black")
    if row["state"] in draw.TROUBLE:
        text.append(f" {draw.server_error(row)}", "red")
    return text


def _host(name: str, row: Row | None, width: int) -> list[Text]:
    """One line for the box, and one for every two GPUs."""
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(name if len(name) <= width else f"{name[: width - 1]}…", "bold")
    text.append(" " * max(1, width - len(name) + 1))
    if row is None or row["sampled_at"] is None:
        return [text.append("no metrics", "bright_black")]
    _bar(text, "cpu", row["cpu_percent"])
    _bar(text, "ram", row["ram_percent"])
    if row["ram_total_mb"]:
        text.append(f" of {draw.size(row['ram_total_mb'] * MIB)}", "bright_black")
    if row["swap_used_mb"] and row["swap_used_mb"] > SWAPPING_MB:
        text.append(f" swap {draw.size(row['swap_used_mb'] * MIB)}", "magenta")
    lines = [text]
    for number, card in enumerate(row["cards"]):
        if number % 2 == 0:
            lines.append(Text(" ", no_wrap=True, overflow="ellipsis"))
        _bar(lines[-1], f"gpu{card['id']}", card["use_pct"])
        used, total = card["vram_used_mb"], card["vram_total_mb"]
        if used is not None and total:
            _bar(lines[-1], "vram", min(used, total) * 100 // total)
    return lines


def _bar(text: Text, name: str, percent: Any) -> None:
    if not isinstance(percent, int | float):
        return
    fraction = max(0, min(100, percent)) / 100
    colour = "red" if fraction >= HOT else "yellow" if fraction >= WARM else "green"
    full = round(fraction * BAR)
    text.append(f" {name} ", "bright_black")
    text.append("━" * full, colour).append("─" * (BAR - full), "bright_black")
    text.append(f" {fraction:4.0%}")
