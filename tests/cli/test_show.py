"""draw: runs and lists from plain rows."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from rich.console import Console, RenderableType

from qwf_agent.look import draw

TRACEBACK = "Traceback (most recent call last):\n  File x\nValueError: " + "far too long " * 20


def drawn(content: RenderableType, width: int, colour: bool = False) -> str:
    console = Console(width=width, force_terminal=colour, no_color=not colour, highlight=False)
    with console.capture() as text:
        console.print(content)
    return text.get()


def node(node_id: str, status: str, **more: Any) -> dict[str, Any]:
    return {
        "job_id": 1,
        "node_id": node_id,
        "step_id": node_id.split("/")[0],
        "status": status,
        "attempt": 1,
        "progress": None,
        "message": None,
        "error": None,
        "seconds": None,
        "depends_on": [],
        "finished_at": None,
        **more,
    }


def status(nodes: list[dict[str, Any]], run_status: str = "running") -> dict[str, Any]:
    run = {"id": 12, "workflow": "w", "workflow_version": 3, "status": run_status, "error": None}
    return {"run": run, "nodes": nodes}


EVERY_STATE = status(
    [
        node("detect/fetch", "completed", seconds=0.123),
        node("detect/detect", "running", progress=0.45, message="measuring depth", seconds=61),
        node("detect/annotate", "blocked", depends_on=["detect/fetch", "detect/detect"]),
        node("choose", "awaiting_input"),
        node("build/scene", "scheduled", attempt=2, error=TRACEBACK),
        node("build/export", "failed", attempt=3, error=TRACEBACK),
        node("build/skip", "skipped"),
        node("build/stop", "cancelled"),
        node("build/next", "queued"),
    ]
)


@pytest.mark.parametrize("width", [80, 120, 160, 200])
def test_a_run_fits_the_width_and_shows_everything(width: int) -> None:
    text = drawn(draw.run(EVERY_STATE), width)
    assert all(len(line) <= width for line in text.splitlines())
    for part in (
        *("run 12  w@3", "✓ fetch", "0.1 s", "● detect", "45%", "measuring", "1 min 01 s"),
        *("after fetch, detect", "qwf answer 12 choose VALUE", "attempt 2", "✗ export"),
        *("ValueError", "↷ skip", "⊘ stop", "○ next", "└─", "├─"),
    ):
        assert part in text


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("height", [6, 10, 24])
def test_a_live_run_fits_the_height(width: int, height: int) -> None:
    wide = status([node(f"wide/n{i}", "blocked") for i in range(1000)])
    wide["nodes"][500] = node("wide/n500", "running", message="busy", progress=0.5)
    text = drawn(draw.run(wide, height), width)
    assert len(text.splitlines()) <= height
    assert "n500" in text
    assert "999 blocked" in text


def test_only_the_last_line_of_an_error_is_shown() -> None:
    assert "Traceback" not in drawn(draw.run(EVERY_STATE), 160)


def test_a_blank_error_is_drawn() -> None:
    assert "✗ a" in drawn(draw.run(status([node("a", "failed", error=" \n")])), 80)


@pytest.mark.parametrize(("label", "text"), [(7, "7"), (None, "null"), ("two\nlines", "two lines")])
def test_a_label_may_be_anything(label: Any, text: str) -> None:
    assert draw.brief({"id": 1, "label": label, "score": 3}) == f"{text}  score 3"


@pytest.mark.parametrize("reason", [5, None, {"why": "x"}, ["a"], ""])
def test_the_reason_of_an_event_may_be_anything(reason: Any) -> None:
    now = datetime.now(timezone.utc)
    detail = {"reason": reason, "now": "queued"}
    event = {"at": now, "kind": "lost", "login": "w", "acting_for": None, "detail": detail}
    job = {
        "created_at": now,
        "login": "x",
        "acting_for": None,
        "status": "queued",
        "finished_at": None,
    }
    assert "lost  by w" in drawn(draw.timeline(job, [], [event]), 120)


def test_an_attempt_stands_after_the_events_that_ended_it() -> None:
    start = datetime.now(timezone.utc)
    asked, ended = start + timedelta(seconds=1), start + timedelta(seconds=2)
    attempt = {
        "attempt": 1, "outcome": "cancelled", "queued_at": start, "started_at": start,
        "finished_at": ended,
    }  # fmt: skip
    event = {
        "at": asked,
        "kind": "cancel_requested",
        "login": "ada",
        "acting_for": None,
        "detail": {},
    }
    job = {
        "created_at": start,
        "login": "x",
        "acting_for": None,
        "status": "cancelled",
        "finished_at": ended,
    }
    shown = drawn(draw.timeline(job, [attempt], [event]), 120)
    assert shown.index("enqueued") < shown.index("cancel requested") < shown.index("attempt 1")


def test_markup_in_data_is_plain_text() -> None:
    odd = status([node("a/b", "failed", error="[bold]x[/bold] [/nothing]")])
    assert "[bold]x[/bold] [/nothing]" in drawn(draw.run(odd), 160)
    assert "[red]" in drawn(draw.rows(["id", "error"], [{"id": 1, "error": "[red]"}], ""), 80)


def test_colours_only_if_asked_for() -> None:
    assert "\x1b[" in drawn(draw.run(EVERY_STATE), 80, colour=True)
    assert "\x1b[" not in drawn(draw.run(EVERY_STATE), 80)


def test_changes_name_each_node_once() -> None:
    before = status([node("a/b", "queued"), node("a/c", "blocked")])
    after = status([node("a/b", "completed", seconds=2, finished_at="x"), node("a/c", "queued")])
    assert draw.changes(None, before) == ["run 12  a/b  queued", "run 12  running"]
    assert draw.changes(before, after) == ["run 12  a/b  completed  2.0 s", "run 12  a/c  queued"]
    assert draw.changes(after, after) == []


def test_the_board_has_a_line_for_each_run() -> None:
    over = status([node("a/b", "completed")], "completed")
    text = drawn(draw.board([EVERY_STATE, over], {12: "photo"}), 80)
    assert len(text.splitlines()) == 2
    assert "✓●·?◷✗↷⊘○" in text
    assert "detect/detect measuring depth" in text
    assert "100%" in text
    assert "✓ completed" in text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.0004, "under 1 ms"),
        (0.013, "13 ms"),
        (0.0994, "99 ms"),
        (0.0996, "0.1 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (3599.7, "1 h 00 min"),
        (90_000, "25 h 00 min"),
        (200_000, "2 d 07 h"),
    ],
)
def test_durations_read_well(seconds: float, text: str) -> None:
    assert draw.duration(seconds) == text


@pytest.mark.parametrize("width", [80, 160])
def test_a_list_cuts_its_last_column_only(width: int) -> None:
    row = {"id": 1, "status": "failed", "took": Decimal("12.5"), "error": "x" * 500}
    text = drawn(draw.rows(["id", "status", "took", "error"], [row], "none"), width)
    assert len(text.splitlines()) == 2
    assert "✗ failed" in text
    assert "12 s" in text
    assert "…" in text


def test_an_empty_list_says_so() -> None:
    assert drawn(draw.rows(["id"], [], "no runs"), 80) == "no runs\n"


def test_a_question_shows_its_options() -> None:
    row = {
        "run_id": 12,
        "workflow": "w",
        "node_id": "choose",
        "widget": "choose_one",
        "prompt": "Which?",
        "age": timedelta(minutes=3),
        "spec": {
            "widget": "choose_one",
            "source": [{"id": "1", "label": "face", "score": 1.0}, "none", 3],
        },
    }
    text = drawn(draw.question(row), 80)
    for part in ("3 min 00 s", "Which?", "#1 face  score 1.0", "#2 none", "#3 3", "'#1'"):
        assert part in text


def test_a_confirmation_of_a_list_is_answered_true_or_false() -> None:
    row = {
        "run_id": 12,
        "workflow": "w",
        "node_id": "ok",
        "widget": "confirm",
        "age": timedelta(minutes=3),
        "spec": {"widget": "confirm", "source": ["a", "b"]},
    }
    text = drawn(draw.question(row), 80)
    assert "qwf answer 12 ok true" in text
    assert "#1" not in text


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ({"widget": "text"}, "VALUE"),
        ({"widget": "choose_one", "source": ["a"]}, "'#1'"),
        ({"widget": "choose_one", "source": []}, "null"),
        (
            {"widget": "choose_one", "options": ["it's", "b"], "multiple": True},
            """'["it'"'"'s"]'""",
        ),
        ({"widget": "turnout", "source": [{"id": 7, "x": 1}], "multiple": True}, "'[7]'"),
        ({"widget": "turnout", "source": [{"x": 1}], "multiple": True}, "VALUE"),
        ({"widget": "turnout", "source": ["x" * 99], "multiple": True}, "VALUE"),
    ],
)
def test_the_command_to_copy_has_an_answer_that_fits(spec: dict[str, Any], value: str) -> None:
    assert draw.typed(spec) == value


def test_a_question_shows_its_files_as_paths() -> None:
    spec = {
        "show": ["/out/a.png", {"rel_path": "s/b.png", "host": "box"}, None, 7, "e\x1b[2Jvil.png"],
        "options": [{"id": "1", "label": "face", "picture": "/out/1.png"}, {"picture": 5}],
    }
    assert draw.shown(spec) == ["/out/a.png", "box:s/b.png", "e␛[2Jvil.png"]
    assert draw.shown({"show": {"rel_path": "b.png"}}) == ["b.png"]
    assert draw.shown({"show": None}) == draw.shown({}) == []
    assert [text for _, text in draw.options(spec)] == ["face  /out/1.png", '{"picture": 5}']


def test_a_map_shows_the_progress_of_its_elements() -> None:
    counts = {"completed": 5, "failed": 1, "running": 2, "blocked": 2}
    text = drawn(draw.run(status([node("a/each", "blocked", elements=counts)])), 160)
    assert "● each  running" in text
    assert "60% 5 completed, 1 failed, 2 running, 2 blocked" in text
    over = status([node("a/each", "completed", elements={"completed": 10})], "completed")
    assert "10 elements: 10 completed" in drawn(draw.run(over), 160)


def test_a_run_shows_failures_and_that_it_cleans_up() -> None:
    ending = status([node("a/b", "failed")])
    ending["run"] |= {"ending": "failed", "failed_nodes": 1}
    assert "1 failed  failed, cleaning up" in drawn(draw.run(ending), 160)


def test_attempt_lines_break_only_between_their_parts() -> None:
    now = datetime.now(timezone.utc)
    row = {
        "attempt": 2, "outcome": "lost", "reason": "oom",
        "worker": "the-box-in-the-cellar:cpu:56c710b9", "queued_at": now - timedelta(seconds=5),
        "started_at": now, "finished_at": now + timedelta(1),
        "exit_code": None, "signal": 9, "max_rss_bytes": 3 << 30, "cpu_seconds": 7.0,
        "gpu_peak_bytes": 5 << 30, "error": "x " * 60, "log_tail": None,
    }  # fmt: skip
    lines = drawn(draw.attempt(row), 60).splitlines()
    assert max(map(len, lines)) <= 60
    whole = ("attempt 2", "waited 5.0 s", "took 24 h 00 min", "signal 9", "3.0 GiB", "5.0 GiB GPU")
    for part in whole:
        assert any(part in line for line in lines), part
    assert all(line.startswith("    x") for line in lines if "x x" in line)


def test_a_step_that_a_node_waits_for_is_named_once() -> None:
    after = node("choose", "blocked", depends_on=["detect/a", "detect/b", "ask"])
    assert "after detect, ask" in drawn(draw.run(status([after])), 80)


def test_the_worker_column_is_dropped_before_the_host_is_cut() -> None:
    row = {"host": "h" * 40, "queue": "q" * 20, "worker": "w" * 60}
    text = drawn(draw.rows(["host", "queue", "worker"], [row], ""), 80)
    assert "h" * 40 in text
    assert "w" not in text


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (timedelta(minutes=37), "37 min"),
        (timedelta(days=1, hours=12), "1 d 12 h"),
        (timedelta(seconds=1.5), "1.5 s"),
        (timedelta(0), "0 s"),
    ],
)
def test_lengths_of_time_are_spelled_exactly(length: timedelta, text: str) -> None:
    assert draw.spell(length) == text


def test_a_question_shows_the_command_with_its_first_option() -> None:
    option = {"id": "bee.png", "label": "a bee\x1b[2J", "picture": "/p/bee.png"}
    asked = status([node("choose", "awaiting_input", question={"options": [option, "no"]})])
    text = drawn(draw.run(asked), 120)
    assert "qwf answer 12 choose '#1'  #1 is a bee" in text
    assert "\x1b" not in text
    asked = status([node("choose", "awaiting_input", question={"options": ["yes"]})])
    assert draw.changes(None, asked)[0].endswith("qwf answer 12 choose '#1'  #1 is yes")
