"""Draws runs: one as a tree, several as a line each, and the changes between two statuses."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import PurePosixPath

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from qwf_agent.look.draw.jobs import FIRST, options, typed
from qwf_agent.look.draw.visible import visible
from qwf_agent.look.draw.words import (
    LOOKS,
    OVER,
    Row,
    bar,
    brief,
    cut,
    duration,
    gist,
    moment,
    state,
)

STATES = (
    *("completed", "failed", "cancelled", "skipped", "running", "awaiting_input"),
    *("queued", "scheduled", "blocked"),
)
ASKED = 2  # questions shown below a run
LONGEST_OPTION = 60  # characters of an option in one line
LEFT_OUT = ("completed", "blocked", "skipped", "queued", "cancelled", "scheduled")


def run(status: Row, max_lines: int | None = None) -> RenderableType:
    """A run as a tree of steps and nodes; if it exceeds max_lines, only the busy nodes."""
    asked = _answers(status)
    room = max_lines and max_lines - 3 - len(asked)
    lines: list[RenderableType] = [headline(status), nodes(status, room), *asked]
    error = status["run"].get("error")
    if error:
        lines.append(Text(f"error: {error}", "red"))
    one = status["run"]
    if one["status"] == "failed" and not one.get("parent_run") and max_lines is None:
        lines.append(Text(f"qwf retry run {one['id']}", "magenta"))
    return Group(*lines)


def headline(status: Row) -> Text:
    """Id, workflow, state, nodes done and time of a run, in one line."""
    one = status["run"]
    done = sum(node["status"] in {"completed", "skipped"} for node in status["nodes"])
    text = Text.assemble(
        (f"run {one['id']}  ", "bold"), f"{one['workflow']}@{one['workflow_version']}  "
    )
    text.append_text(state(one["status"]))
    text.append(f"  {done} of {len(status['nodes'])} nodes")
    if one.get("parent_run"):
        text.append(f"  part of run {one['parent_run']}, {one['parent_node']}", "bright_black")
    if one.get("failed_nodes"):
        text.append(f"  {one['failed_nodes']} failed", "red")
    if one.get("ending") and one["status"] not in OVER:
        text.append(f"  {one['ending']}, cleaning up", "red")
    if one.get("takes_back_first"):
        text.append("  takes back first what its retry runs again", "yellow")
    if one.get("seconds") is not None:
        text.append(f"  {duration(one['seconds'])}{usually(one)}", "bright_black")
    return text


def usually(row: Row) -> str:
    """The usual time, if it is known: `, usually 37 s`."""
    usual = row.get("usual")
    return "" if usual is None else f", usually {duration(usual)}"


def earlier_tries(tries: Sequence[Row], run: Row) -> list[Text]:
    """How the tries of a run before this one ended, a line each; with their versions, if the run
    moved from one to another."""
    moved = any(row["version"] != run["workflow_version"] for row in tries)
    return [
        Text.assemble(
            (f"try {row['try']} ", "bold"),
            f"of version {row['version']} " if moved else "",
            state(row["status"]),
            f" {moment(row['finished_at'])} after {duration(row['seconds'])}",
            (f": {row['error']}" if row["error"] else "", "red"),
        )
        for row in (tries[:-1] if run["status"] in OVER else tries)
    ]


def nodes(status: Row, max_lines: int | None = None) -> RenderableType:
    """The nodes below their steps: state, time, progress or error."""
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(overflow="ellipsis" if max_lines else "fold", no_wrap=bool(max_lines), ratio=1)
    shown, left_out = _fitting(list(status["nodes"]), max_lines)
    for step, group in groupby(shown, key=lambda node: node["step_id"]):
        members = list(group)
        if [node["node_id"] for node in members] == [step]:
            table.add_row(Text("  ").append_text(_name(members[0], step)), *_cells(members[0]))
            if max_lines is None:
                for row in _runs_of(members[0]):
                    table.add_row(*row)
            continue
        table.add_row(Text(f"  {step}", "bold"))
        for node in members:
            branch = "  └─ " if node is members[-1] else "  ├─ "
            name = Text.assemble((branch, "bright_black")).append_text(
                _name(node, node["node_id"].removeprefix(f"{step}/"))
            )
            table.add_row(name, *_cells(node))
    if not left_out:
        return table
    rest = ", ".join(f"{count} {status}" for status, count in sorted(left_out.items()))
    return Group(table, Text(f"  … and {rest}", "bright_black"))


def _runs_of(node: Row) -> Iterator[tuple[Text, Text, Text, Text]]:
    """The runs of a step: those that are live or did not complete before others."""
    for one in node.get("child_runs") or ():
        which = one["node_id"].removeprefix(node["node_id"])
        name = Text.assemble(("     └─ ", "bright_black"), f"run {one['id']} {which}".rstrip())
        done = Text(f"{one['done']} of {one['total']} nodes", "bright_black")
        yield name, state(one["status"]), Text(), done


def files(found: Sequence[Row], run_id: int) -> list[str]:
    """The paths of files that a run has left, below the name of their box. Each row has the number
    of all, and what says where its folder is."""
    lines = []
    for host, group in groupby(found, key=lambda row: row["host"]):
        lines.append(f"files on {host or 'an unknown box'}")
        for row in group:
            root = PurePosixPath(row["out_root"] or "") / (row["out_dir"] or "")
            lines.append(f"  {root / str(run_id) / row['rel_path']}")
    more = found[0]["files"] - len(found) if found else 0
    return [*lines, f"  and {more} more: qwf job JOB lists those of a job"] if more else lines


def board(statuses: Sequence[Row], names: Mapping[int, str]) -> RenderableType:
    """Several runs, one line each: name, a sign for each node, progress, current work."""
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    for _ in range(3):
        table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    for status in statuses:
        signs = Text.assemble(*(LOOKS.get(_state(node), (" ", "")) for node in status["nodes"]))
        done = sum(map(_part_done, status["nodes"])) / max(1, len(status["nodes"]))
        table.add_row(names[status["run"]["id"]], signs, bar(done), _doing(status))
    return table


def changes(before: Row | None, after: Row, only: Container[str] | None = None) -> list[str]:
    """One plain line for each node whose state changed since `before`, and for the run.

    With `only`, changes to other states are left out.
    """
    known = {node["node_id"]: node["status"] for node in before["nodes"]} if before else {}
    one = after["run"]
    lines = []
    for node in after["nodes"]:
        state = node["status"]
        if state != known.get(node["node_id"], "blocked") and (only is None or state in only):
            lines.append(f"run {one['id']}  {node['node_id']}  {state}{_more(node, after)}")
    changed = before is None or before["run"]["status"] != one["status"]
    if changed and (only is None or one["status"] in only):
        lines.append(f"run {one['id']}  {one['status']}")
    return lines


def _more(node: Row, status: Row) -> str:
    """Time and detail of a node for a plain line, without progress, which changes too often."""
    ended = node.get("finished_at") and node.get("seconds") is not None
    took = f"  {duration(node['seconds'])}" if ended else ""
    detail = _detail(node) if node["status"] != "running" else None
    if node["status"] == "awaiting_input":
        detail = _answer(status, node)
    return f"{took}  {detail.plain}" if detail else took


def _doing(status: Row) -> Text:
    """The present work of a run, its wait, or its end."""
    if status["run"]["status"] in OVER:
        return state(status["run"]["status"])
    for wanted, words in (("running", ""), ("awaiting_input", "asks"), ("queued", "queued")):
        found = [node for node in status["nodes"] if node["status"] == wanted]
        if found:
            texts = [
                f"{node['node_id']} {_waits_for(node) or words or node.get('message') or ''}"
                for node in found
            ]
            return Text(", ".join(text.rstrip() for text in texts), LOOKS[wanted][1])
    return state(status["run"]["status"])


def _waits_for(node: Row) -> str:
    """The signal that a node waits for, in words, unless it asks a person, too."""
    return f"waits for {visible(node['signal'])}" if _has_only_signal(node) else ""


def _has_only_signal(node: Row) -> bool:
    return "signal" in node and "question" not in node


def _state(node: Row) -> str:
    """A map is shown as running while its elements run, though its own row is blocked."""
    return "running" if node["status"] == "blocked" and node.get("elements") else node["status"]


def _part_done(node: Row) -> float:
    if node["status"] in OVER | {"skipped"}:
        return 1.0
    if node.get("elements"):
        return _elements_done(node["elements"])
    return node.get("progress") or 0.0 if node["status"] == "running" else 0.0


def _name(node: Row, name: str) -> Text:
    sign, colour = LOOKS.get(_state(node), (" ", ""))
    back = node.get("takes_back")
    takes = f"  ↶ takes back {', '.join(back)}" if back else ""
    return Text.assemble((f"{sign} ", colour), name, (takes, "bright_black"))


def _cells(node: Row) -> tuple[Text, Text, Text]:
    seconds = node.get("seconds")
    shown = _state(node)
    colour = LOOKS.get(shown, ("", ""))[1]
    took = Text("", "bright_black")
    if seconds is not None:
        took.append(duration(seconds) + usually(node))
    return Text(shown.replace("_", " "), colour), took, _detail(node) or Text()


def _detail(node: Row) -> Text | None:
    if node["status"] == "running" and node.get("progress") is not None:
        return bar(node["progress"]).append(f" {node.get('message') or ''}")
    if node.get("elements") and node["status"] in {"blocked", "completed"}:
        return Text(visible(node["message"])) if node.get("message") else _elements(node)
    if node["status"] == "scheduled" and node.get("message") and not node.get("attempt"):
        return Text(visible(node["message"]))
    if node["status"] == "completed" and node.get("queue") is None and node.get("message"):
        return Text(visible(node["message"]))  # its default was taken
    if _has_only_signal(node):
        return Text(_waits_for(node), "bright_black")
    tries = f"attempt {node['attempt']}  " if (node.get("attempt") or 0) > 1 else ""
    if node.get("error") and node["status"] != "completed":
        return Text(f"{tries}{gist(node['error'])}", "red" if node["status"] == "failed" else "")
    if node["status"] == "blocked" and node.get("depends_on"):
        waits = _waits(node)
        more = f" and {len(waits) - 3} more" if len(waits) > 3 else ""
        return Text(f"after {', '.join(waits[:3])}{more}", "bright_black")
    return Text(tries) if tries else None


def _answers(status: Row) -> list[Text]:
    """The commands that answer the first questions of a run, one on each line, for copying."""
    asked = [node for node in status["nodes"] if node["status"] == "awaiting_input"]
    return [_answer(status, node) for node in asked[:ASKED]]


def _answer(status: Row, node: Row) -> Text:
    if _has_only_signal(node):
        project = status["run"]["project"]
        of_project = f" --project {shlex.quote(project)}" if project else ""
        return Text(f"qwf signal {shlex.quote(node['signal'])} PAYLOAD{of_project}", "magenta")
    command = f"qwf answer {status['run']['id']} {node['node_id']}"
    question = node.get("question", {})
    value = typed(question)
    if value != FIRST:
        return Text(f"{command} {value}", "magenta")
    option, _ = options(question)[0]
    label = option.get("label", option) if isinstance(option, dict) else option
    first = cut(visible(brief(label)), LONGEST_OPTION)
    return Text.assemble((f"{command} {value}", "magenta"), (f"  #1 is {first}", "bright_black"))


def _waits(node: Row) -> list[str]:
    """The things it waits for: nodes of its own step by name, other steps as a whole."""
    own = f"{node['step_id']}/"
    names = (
        name.removeprefix(own) if name.startswith(own) else name.partition("/")[0]
        for name in node["depends_on"]
    )
    return list(dict.fromkeys(names))


def _elements(node: Row) -> Text:
    """Progress of a map, and its elements by state."""
    counts: Mapping[str, int] = node["elements"]
    names = sorted(counts, key=STATES.index)
    parts = ", ".join(f"{counts[name]} {name.replace('_', ' ')}" for name in names)
    if node["status"] == "completed":
        return Text(f"{sum(counts.values())} elements: {parts}", "bright_black")
    return bar(_elements_done(counts)).append(f" {parts}")


def _elements_done(counts: Mapping[str, int]) -> float:
    ended = sum(count for name, count in counts.items() if name in OVER | {"skipped"})
    return ended / max(1, sum(counts.values()))


def _fitting(all_nodes: list[Row], max_lines: int | None) -> tuple[list[Row], Counter[str]]:
    """The nodes that fit in max_lines, busy ones first; and the states of those left out."""
    shown, left_out = all_nodes, Counter[str]()
    for quiet in LEFT_OUT:
        if max_lines is None or _height(shown) <= max_lines:
            break
        left_out[quiet] = sum(_state(node) == quiet for node in shown)
        shown = [node for node in shown if _state(node) != quiet]
    while max_lines is not None and shown and _height(shown) > max_lines:
        left_out[shown.pop()["status"]] += 1
    return shown, +left_out


def _height(shown: list[Row]) -> int:
    return len(shown) + len(
        {node["step_id"] for node in shown} - {node["node_id"] for node in shown}
    )
