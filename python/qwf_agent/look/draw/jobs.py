"""Draws one job: its state, its history, one attempt; and questions to a person."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from qwf_agent.look.draw import words
from qwf_agent.look.draw.visible import visible
from qwf_agent.look.draw.words import (
    LOOKS,
    Row,
    bar,
    brief,
    cut,
    duration,
    moment,
    seconds,
    size,
    state,
)

OUTCOMES = {
    "completed": "completed",
    "error": "failed",
    "fatal": "failed",
    "tempfail": "failed",
    "lost": "failed",
    "cancelled": "cancelled",
    "released": "queued",
}
HIDDEN = {"attempt", "reason"}
WIDE = 72
GAP = "  "
LONGEST_ERROR = 20_000  # characters
LONGEST_GIST, LONGEST_OPTION, LONGEST_PROMPT, LONGEST_PATH = 200, 300, 2000, 4096


@dataclass(frozen=True)
class BreakableLine:
    """A line that breaks only between its parts."""

    parts: Sequence[Text]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = Text()
        for part in self.parts:
            if line and line.cell_len + len(GAP) + part.cell_len > options.max_width:
                yield line
                line = Text()
            line = (line + Text(GAP) if line else line) + part
        yield line

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        sizes = [part.cell_len for part in self.parts]
        most = sum(sizes) + len(GAP) * (len(sizes) - 1)
        return Measurement(max(sizes), most).with_maximum(options.max_width)


FIRST = "'#1'"  # names the first option for `qwf answer`
LONGEST_ANSWER = 60
CHOOSE = ("choose_one", "turnout", "on_failure")  # widgets whose source has their options


def headline(job: Row) -> Text:
    """Id, task, state, tries and progress of a job, in one line."""
    text = Text.assemble((f"job {job['id']}  ", "bold"), f"{job['task']}  ")
    text.append_text(state(job["status"]))
    counts = [
        f"attempt {job['attempt']}" if job["attempt"] else "",
        _count(job["failures"], "failure"),
        _count(job["losses"], "loss", "losses"),
        _count(job["retries"], "retry", "retries"),
        f"{job['released']} released" if job.get("released") else "",
    ]
    shown = ", ".join(filter(None, counts))
    text.append(f"  {shown}" if shown else "", "bright_black")
    if job["status"] == "running" and job["progress"] is not None:
        text.append("  ").append_text(bar(job["progress"]))
        text.append(f" {job['progress_message'] or ''}")
    return text


def timeline(job: Row, attempts: Sequence[Row], events: Sequence[Row]) -> RenderableType:
    """The history of a job, oldest first: enqueued, attempts, events, end.

    An attempt stands where it ended, after the events that ended it.
    """
    lines: list[tuple[datetime, RenderableType]] = [
        (job["created_at"], Text(f"enqueued{words.made_by(job)}"))
    ]
    lines += [
        (row["finished_at"] or row["started_at"], _attempt_line(row, gist=True)) for row in attempts
    ]
    lines += [  # of a failure, its attempt tells
        (row["at"], _event_line(row)) for row in events if row["kind"] != "job_failed"
    ]
    if job["status"] == "running":
        number, runs = Text(f"attempt {job['attempt']}", "bold"), Text("runs", LOOKS["running"][1])
        lines.append(
            (job["claimed_at"], BreakableLine([number, runs, Text(job["claimed_by"] or "")]))
        )
    if job["status"] == "scheduled":
        lines.append((job["run_at"], Text("due", "bright_black")))
    if job["finished_at"]:
        lines.append((job["finished_at"], state(job["status"])))
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bright_black", no_wrap=True)
    table.add_column(overflow="fold")
    for when, text in sorted(lines, key=lambda line: line[0]):
        table.add_row(f"  {moment(when)}", text)
    return table


def is_told(row: Row) -> bool:
    """Return True if the line of an attempt in the timeline has its whole error."""
    error = (row.get("error") or "").strip()
    whole = len(error) <= LONGEST_GIST and words.gist(error) == error
    return whole and OUTCOMES.get(row["outcome"]) == "failed"


def attempt(row: Row, *, log_lines: int | None = None) -> RenderableType:
    """One finished attempt: how it ended, what it used, its error and the end of its log.

    With `log_lines`, only so much of the log and only the start of a very long error.
    """
    lines: list[RenderableType] = [Text(), _attempt_line(row)]
    printed = (row.get("log_tail") or "").rstrip()
    log = printed.splitlines()
    left_out = len(log) - log_lines if log_lines and len(log) > log_lines else 0
    title = f"printed (last {log_lines} of {len(log)} lines)" if left_out else "printed"
    error = row.get("error") or ""
    for name, text, style in (
        ("error", cut(error, LONGEST_ERROR) if log_lines else error, "red"),
        (title, "\n".join(log[left_out:]), ""),
    ):
        if text:
            lines += [
                Text(f"  {name}:", "bright_black"),
                Padding(Text(_without_carets(text.rstrip()), style), (0, 0, 0, 4)),
            ]
    return Group(*lines)


def question(row: Row) -> RenderableType:
    """An open question: what is asked, files to look at, the options, and how to answer."""
    node = row["node_id"]
    names = [f"run {row['run_id']}", row["workflow"], node] if node else [f"job {row['job_id']}"]
    age = Text(f"{row['widget'] or 'input'}, {duration(seconds(row['age']))} old", "bright_black")
    task = [] if node or not row.get("task") else [Text(row["task"])]
    first, *others = (Text(name) for name in names)
    first.stylize("bold")
    lines: list[RenderableType] = [BreakableLine([first, *others, *task, age])]
    if row.get("prompt"):
        lines.append(_indented(cut(row["prompt"], LONGEST_PROMPT), "magenta"))
    if row["spec"].get("error"):
        lines.append(_indented(cut(_last_line(row["spec"]["error"]), LONGEST_OPTION), "red"))
    lines += [_indented(path, "blue") for path in shown(row["spec"])]
    offered = options(row["spec"])
    lines += [_indented(f"#{number} {text}") for number, (_, text) in enumerate(offered, start=1)]
    if not offered and chooses(row["spec"]):
        lines.append(_indented("there is nothing to choose from", "bright_black"))
    subject = f"{row['run_id']} {node}" if node else f"--job {row['job_id']}"
    lines.append(_indented(f"qwf answer {subject} {typed(row['spec'])}", "cyan"))
    return Group(*lines)


def typed(spec: Row) -> str:
    """An answer as a person types it for `qwf answer`: the first option, if there is one."""
    offered = options(spec)
    if not offered:
        return "null" if chooses(spec) else "true" if spec.get("widget") == "confirm" else "VALUE"
    if spec.get("multiple") is not True:
        return FIRST
    value = offered[0][0]
    named = value.get("id", value.get("value", value)) if isinstance(value, dict) else value
    answer = shlex.quote(brief([named]))
    short = isinstance(named, str | int) and len(answer) <= LONGEST_ANSWER
    return answer if short else "VALUE"


def options(spec: Row) -> list[tuple[Any, str]]:
    """The values a person may choose from, each with a short text."""
    given = spec.get("options")
    if given is None and spec.get("widget") in CHOOSE:  # else the source is only to look at
        given = spec.get("source")
    return [(value, _option(value)) for value in given] if isinstance(given, list) else []


def chooses(spec: Row) -> bool:
    """Return True if the answer has to be one of a list, which may be empty: then it is null."""
    return isinstance(spec.get("options"), list) or spec.get("widget") in CHOOSE


def shown(spec: Row) -> list[str]:
    """The paths of the files that a question shows; of another box with its name: `box:path`."""
    given = spec.get("show")
    entries = given if isinstance(given, list) else [given]
    return [path for path in map(_path, entries) if path]


def _option(value: Any) -> str:
    """An option on one line, the path of its picture last and never cut short."""
    path = _path(value.get("picture")) if isinstance(value, dict) else None
    if path is None:
        return cut(brief(value), LONGEST_OPTION)
    rest = {key: item for key, item in value.items() if key != "picture"}
    return f"{cut(brief(rest), LONGEST_OPTION)}  {path}"


def _path(file: Any) -> str | None:
    """The path of a file: a text, or an entry of `<node>.files`; None for anything else."""
    if isinstance(file, dict) and isinstance(file.get("rel_path"), str):
        host = file.get("host")
        file = f"{host}:{file['rel_path']}" if isinstance(host, str) else file["rel_path"]
    return visible(cut(file, LONGEST_PATH)) if isinstance(file, str) else None


def _indented(text: str, style: str = "") -> Padding:
    return Padding(Text(text, style), (0, 0, 0, 2))


def _attempt_line(row: Row, *, gist: bool = False) -> BreakableLine:
    """One attempt in a line, with `gist` ending in a line of its error."""
    took = row["finished_at"] - row["started_at"] if row["started_at"] else None
    waited = (
        row["started_at"] - row["queued_at"] if row["started_at"] and row["queued_at"] else None
    )
    parts = [
        row.get("reason"),
        row.get("worker"),
        f"waited {_long(waited)}"
        if waited is not None and waited >= timedelta(seconds=1)
        else None,
        f"took {_long(took)}" if took is not None else None,
        f"exit code {row['exit_code']}" if row.get("exit_code") else None,
        f"signal {row['signal']}" if row.get("signal") else None,
        size(row["max_rss_bytes"]) if row.get("max_rss_bytes") else None,
        f"{row['cpu_seconds']:.1f} s CPU" if (row.get("cpu_seconds") or 0) >= 0.05 else None,
        f"{size(row['gpu_peak_bytes'])} GPU" if row.get("gpu_peak_bytes") else None,
        words.batch(row.get("batch")),
        words.tokens(row.get("usage")),
    ]
    outcome = row["outcome"]
    number = Text(f"attempt {row['attempt']}", "bold")
    ended = Text(outcome, LOOKS[OUTCOMES.get(outcome, "queued")][1])
    error = words.gist(row.get("error") or "")[:LONGEST_GIST] if gist else ""
    said = [Text(error, "red")] if error and OUTCOMES.get(outcome) == "failed" else []
    if said and parts[0] and error.startswith(f"{parts[0]}: "):
        parts[0] = None  # the error begins with it
    return BreakableLine([number, ended, *(Text(part) for part in parts if part), *said])


def _event_line(row: Row) -> BreakableLine:
    detail = dict(row["detail"] or {})
    why = brief(detail.pop("reason", None) or "")  # workers may send any value
    rest = [f"{key} {brief(value)}" for key, value in detail.items() if key not in HIDDEN]
    what = Text(row["kind"].replace("_", " "), "magenta")
    by = f"by {words.who(row['login'], row['acting_for'])}"
    parts = [by, *(cut(part, LONGEST_OPTION) for part in (why, *rest))]
    return BreakableLine([what, *(Text(part) for part in parts if part)])


def _without_carets(text: str) -> str:
    """Drop long lines of carets from a traceback: wrapped, they point nowhere."""
    kept = (line for line in text.splitlines() if len(line) <= WIDE or line.strip(" ^~"))
    return "\n".join(kept)


def _long(length: timedelta) -> str:
    return duration(length.total_seconds())


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}" if number else ""


def _last_line(text: Any) -> str:
    return (str(text).strip().splitlines() or [""])[-1]
