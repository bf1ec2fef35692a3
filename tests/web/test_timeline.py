"""When attempts waited and ran, as a drawing."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any
from xml.etree import ElementTree
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qwf_agent.look.draw.words import FarTime
from qwf_agent.web.drawings import timeline
from qwf_agent.web.drawings.timeline_axis import NOTCH, axis_of
from qwf_agent.web.drawings.timeline_rows import Row, row_of_node, rows_of_spans
from qwf_agent.web.drawings.timeline_spans import (
    KINDS,
    AttemptSpan,
    critical_path,
    path_in_words,
    spans_of,
)
from support.poison import STRANGE

NOON = datetime(2026, 3, 28, 12, tzinfo=timezone.utc)
DAY = 86400.0


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def span(name: str, start: float, end: float | None, **more: object) -> AttemptSpan:
    """An attempt at a job, from and to these seconds after noon."""
    values = {"outcome": "completed" if end is not None else "running", "attempt": 1, **more}
    ended = None if end is None else at(end)
    return AttemptSpan(name, started_at=at(start), ended_at=ended, **values)  # type: ignore[arg-type]


def draw(spans: list[AttemptSpan], now: datetime, **more: Any) -> str:
    """These attempts, a row for each job."""
    return str(timeline.draw(rows_of_spans(spans), now, **more))


def elements(drawn: str, kind: str) -> list[ElementTree.Element]:
    """The drawn elements of a class, read as XML: so every text is escaped."""
    root = ElementTree.fromstring(f"<div>{drawn}</div>")
    return [one for one in root.iter() if kind in one.get("class", "").split()]


def rows(drawn: str) -> list[str]:
    return [str(one.get("title")) for one in elements(drawn, "timeline-name")]


MOMENTS = st.integers(0, 5000).map(float) | st.floats(0, 40 * DAY)


@st.composite
def spans(draw_: st.DrawFn) -> list[AttemptSpan]:
    found = []
    for number in range(draw_(st.integers(1, 12))):
        queued, start, end = sorted(draw_(st.tuples(MOMENTS, MOMENTS, MOMENTS)))
        known = draw_(st.booleans())
        outcome = draw_(st.sampled_from(list(KINDS)))
        more = {"outcome": outcome, "queued_at": at(queued) if known else None}
        found.append(span(f"s/n{number % 5}", start, draw_(st.sampled_from([end, None])), **more))
    return found


@given(given=spans(), times=st.lists(MOMENTS, min_size=2, max_size=20))
def test_folding_keeps_the_order_of_all_times(given: list[AttemptSpan], times: list[float]) -> None:
    axis = axis_of(given, at(41 * DAY))
    places = [axis.place(at(time)) for time in sorted(times)]
    assert places == sorted(places)
    assert 0.0 <= places[0] <= places[-1] <= 1.0
    assert axis.place(axis.start) == 0.0
    assert axis.place(axis.end) == pytest.approx(1.0)
    for start, end in axis.folds:
        assert axis.place(end) - axis.place(start) == pytest.approx(NOTCH)


@given(given=spans())
def test_what_ran_is_never_folded(given: list[AttemptSpan]) -> None:
    now = at(41 * DAY)
    axis = axis_of(given, now)
    for one in given:
        if one.kind != "asked":
            for start, end in axis.folds:
                assert end <= one.started_at or (one.ended_at or now) <= start


@settings(max_examples=50)
@given(given=spans())
def test_every_drawing_is_well_formed_and_stays_in_its_width(given: list[AttemptSpan]) -> None:
    drawn = draw(given, at(41 * DAY), needs={"s/n1": ["s/n0", "s/n2"], "s/n0": ["s/n1"]})
    for one in ElementTree.fromstring(f"<div>{drawn}</div>").iter():
        for share in (one.get("x"), one.get("x1"), one.get("width")):
            if share and share.endswith("%"):
                assert 0.0 <= float(share[:-1]) <= 100.0
    assert "style=" not in drawn


def test_an_idle_gap_is_a_notch_with_its_length() -> None:
    drawn = str(draw([span("a", 0, 60), span("b", 60 + 2 * DAY, 2 * DAY + 120)], NOON))
    (label, notch) = elements(drawn, "fold")
    assert label.text == "2 d 00 h"
    assert notch.get("width") == "2.500%"
    assert "nothing ran for 2 d 00 h" in drawn


def test_a_short_gap_stays() -> None:
    assert axis_of([span("a", 0, 50), span("b", 52, 100)], NOON).folds == ()
    (fold,) = axis_of([span("a", 0, 50), span("b", 60, 100)], NOON).folds
    assert fold == (at(50), at(60))


def test_a_wait_for_a_worker_is_folded_only_if_it_is_most_of_the_axis() -> None:
    assert axis_of([span("a", 40, 100, queued_at=at(0))], NOON).folds == ()
    assert axis_of([span("a", 60, 100, queued_at=at(0))], NOON).folds == ((at(0), at(60)),)
    given = [span("a", 0, 10), span("b", DAY, DAY + 20, queued_at=at(DAY - 5))]
    assert axis_of(given, NOON).folds == ((at(10), at(DAY - 5)),)


def test_a_wait_for_a_person_is_dotted_and_folded() -> None:
    asked = span("ask", 60, DAY, outcome="asked", attempt=None)
    given = [span("a", 0, 60), asked, span("b", DAY, DAY + 60)]
    drawn = str(draw(given, NOON))
    (line,) = elements(drawn, "asked")[1:]
    assert line.tag == "line"
    assert "waited 23 h 59 min for an answer" in drawn
    assert axis_of(given, NOON).folds == ((at(60), at(DAY)),)


def test_a_question_alone_has_an_axis() -> None:
    axis = axis_of([span("ask", 0, DAY, outcome="asked")], NOON)
    assert (axis.folds, axis.place(at(DAY / 2))) == ((), 0.5)


def test_an_attempt_has_a_bar_for_its_wait_and_one_for_its_run() -> None:
    one = span("a", 10, 40, queued_at=at(0), worker="box-a:1", detail="reason <b>")
    drawn = str(draw([one], NOON))
    (waited,) = elements(drawn, "waited")
    assert (waited.get("x"), waited.get("width")) == ("0.000%", "25.000%")
    ran = next(bar for bar in elements(drawn, "completed") if bar.tag == "rect")
    assert (ran.get("x"), ran.get("width")) == ("25.000%", "75.000%")
    assert ran[0].text == "attempt 1 on box-a:1 completed after 30 s, waited 10 s: reason <b>"


@pytest.mark.parametrize("outcome", KINDS)
def test_each_outcome_has_its_look(outcome: str) -> None:
    kind = KINDS[outcome]
    assert len(elements(str(draw([span("a", 0, 9, outcome=outcome)], NOON)), kind)) == 2


def test_what_runs_goes_to_the_line_of_now() -> None:
    drawn = str(draw([span("a", 0, None)], at(100)))
    assert len(elements(drawn, "now")) == 2
    assert elements(str(draw([span("a", 0, 5)], at(100))), "now") == []
    early = str(draw([span("a", 0, None)], at(-100)))  # the clocks differ
    assert "running after 0 s" in early


def test_the_critical_path_goes_back_to_the_dependency_that_ended_last() -> None:
    given = [span("a", 0, 10), span("b", 0, 30), span("c", 30, 40), span("d", 5, 20)]
    given += [span("m[0]", 40, 50), span("m[1]", 40, 60), span("e", 60, 70)]
    needs = {"c": ["a", "b"], "d": ["a"], "m": ["c", "d"], "e": ["m", "gone"]}
    path = critical_path(given, needs, NOON)
    assert [one.name for one in path] == ["e", "m[1]", "c", "b"]
    drawn = str(draw(given, NOON, needs=needs))
    assert len(elements(drawn, "critical")) == 4
    assert "m[1]: attempt 1 completed after 20 s; on the critical path" in drawn


def test_a_circle_of_needs_ends() -> None:
    given = [span("a", 0, 10), span("b", 0, 5)]
    path = critical_path(given, {"a": ["b"], "b": ["a"]}, NOON)
    assert [one.name for one in path] == ["a", "b"]


def test_the_critical_path_is_said_in_words() -> None:
    given = [span("list", 0.5, 1), span("join", 30, 42), span("ask", 1, 20, outcome="asked")]
    path = critical_path(given, {"ask": ["list"], "join": ["ask"]}, NOON)
    said = "42 s: list 0.5 s, answer to ask 19 s, waited 10 s, join 12 s"
    assert path_in_words(path, NOON) == said
    assert said in draw(given, NOON, needs={"ask": ["list"], "join": ["ask"]})


def test_a_filter_leaves_out_attempts_and_keeps_the_axis() -> None:
    given = [span("a", 0, 10, outcome="lost"), span("a", 20, 30, attempt=2), span("b", 30, 40)]
    every = draw(given, NOON)
    assert rows(every) == ["a", "b"]
    every_row = rows_of_spans(given)
    shown = [found for row in every_row if (found := row.shows("lost"))]
    lost = str(timeline.draw(every_row, NOON, shown=shown))
    assert rows(lost) == ["a"]
    assert len(elements(lost, "completed")) == 0
    assert elements(lost, "tick")[0].get("x") == elements(every, "tick")[0].get("x")


def folded(**more: Any) -> Row:
    """The row of a map of 300 elements, of which two failed, as the view gives it."""
    node = {
        "node_id": "s/m", "at_once": [3] * 100 + [0] * 50 + [6] * 50, "failures": [0] * 199 + [2],
        "attempts": 300, "failed": 2, "running": 0, "queued_at": at(0), "started_at": at(20),
        "ended_at": at(220), "typical": 0.4, "slowest": 0.9, "slowest_job": 8,
        "outcomes": ["completed", "error"], **more,
    }  # fmt: skip
    row = row_of_node(node, [], lambda job: f"/jobs/{job}", "/runs/1/nodes/s/m")
    assert row is not None
    return row


def test_a_map_is_one_row_that_shows_how_many_went_on_at_once() -> None:
    first = rows_of_spans([span("a", 0, 20)])
    drawn = str(timeline.draw([*first, folded()], NOON, needs={"s/m": ["a"]}))
    assert rows(drawn) == ["a", "s/m"]
    assert "300 \N{MULTIPLICATION SIGN} 0.4 s" in drawn
    assert '2 failed, slowest <a href="/jobs/8">0.9 s</a>' in drawn
    assert "300 attempts, at most 6 at once, 2 failed" in drawn
    shape, failed = (one for one in elements(drawn, "timeline")[0].iter() if one.tag == "path")
    assert shape.get("d", "").count("M") == 150  # nothing for the slices in which nothing ran
    assert f"V{timeline.HIGH - timeline.HIGH / 2:g}H" in shape.get("d", "")
    assert failed.get("d", "").count("M") == 1
    assert "3 min 40 s: a 20 s, s/m 3 min 20 s" in drawn
    assert folded().shows("failed")
    assert folded().shows("running") is None
    assert folded(running=1).parts[0].ended_at is None


def test_idle_time_before_and_within_a_map_is_folded() -> None:
    row = folded(at_once=[1] + [0] * 198 + [1])
    assert len(elements(str(timeline.draw([row], NOON)), "fold")) == 4


def test_many_nodes_are_shown_a_part_at_a_time() -> None:
    drawn = draw([span(f"s{i}", i, i + 5) for i in range(300)], NOON)
    assert len(rows(drawn)) == timeline.MOST_ROWS
    assert "and 100 more nodes" in drawn


@pytest.mark.parametrize("one", [
    folded(at_once=[*range(1, 201)], failures=[*range(1, 201)]), folded(at_once=None),
    rows_of_spans([span("a", n, n + 1, attempt=n, href="/jobs/7") for n in range(40)])[0],
])  # fmt: skip
def test_a_page_of_a_timeline_stays_small_whatever_its_rows_are(one: Row) -> None:
    drawn = str(timeline.draw([one] * 1000, NOON))
    assert len(drawn) < 190_000
    assert len(rows(drawn)) == timeline.fitting([one] * 1000) >= 10


def test_one_bar_stands_for_attempts_that_are_too_many() -> None:
    (bar,) = folded(at_once=None).spans
    assert (bar.started_at, bar.ended_at, bar.kind) == (at(20), at(220), "completed")
    assert "300 attempts, 2 failed" in str(timeline.draw([folded(at_once=None)], NOON))
    assert folded(at_once=None, outcomes=["error"]).spans[0].kind == "failed"


def test_times_are_written_in_the_zone_and_named_in_utc() -> None:
    given = [span("a", 0, 5 * 3600)]
    berlin = elements(str(draw(given, NOON, zone=ZoneInfo("Europe/Berlin"))), "tick")[0]
    assert "".join(berlin.itertext()) == "2026-03-28 12:00:00 UTC28 Mar 13:00"
    drawn = str(draw(given, NOON, zone=ZoneInfo("Asia/Kolkata")))
    assert ">28 Mar 18:00<" in drawn.replace("</title>", ">")
    assert ">IST<" in drawn


@pytest.mark.parametrize("seconds", [1e-6, 0.02, 1, 59, 3600, DAY, 40 * DAY, 3000 * DAY])
def test_an_axis_of_any_length_has_a_few_times(seconds: float) -> None:
    ticks = elements(str(draw([span("a", 0, seconds)], NOON)), "tick")
    assert 1 <= len([one for one in ticks if one.tag == "text"]) <= 10


@pytest.mark.parametrize(("width", "hidden"), [(408, ()), (300, ("spare",))])
@pytest.mark.parametrize("seconds", [0.02, 1, 59, 3600, 3 * DAY, 40 * DAY])
def test_no_label_of_the_axis_is_over_another(seconds: float, width: int, hidden: Any) -> None:
    gaps = [span(f"a{n}", n * seconds, (n + 0.1) * seconds) for n in range(8)]
    drawn = draw([*gaps, span("z", 8 * seconds, None)], at(9 * seconds))
    for kinds, middle in ((("tick",), 0), (("fold", "now"), 0.5)):
        free = -width
        texts = [one for kind in kinds for one in elements(drawn, kind) if one.tag == "text"]
        for one in texts:
            if set(hidden) & set(one.get("class", "").split()):
                continue
            needs = 6.5 * len((one.text or "") + "".join(c.tail or "" for c in one))
            left = float(one.get("x", "0%")[:-1]) / 100 * width - middle * needs
            assert left >= free
            free = left + needs + 4
        assert free <= width + 40


def test_nothing_yet_and_times_that_do_not_exist_are_said_and_left_out() -> None:
    assert "Nothing has run yet" in draw([], NOON)
    far = FarTime.read("infinity")
    assert "Nothing has run yet" in draw([AttemptSpan("a", "completed", far, far)], NOON)
    old = datetime(1, 1, 1, tzinfo=timezone.utc)
    given = [AttemptSpan("a", "completed", old, old), span("b", 0, 1)]
    assert rows(str(draw(given, NOON))) == ["b"]


def test_foreign_texts_stay_text() -> None:
    evil = f"<script>window.pwned = 1</script>\" onload='x' {STRANGE}"
    one = span(evil, 0, 5, worker=evil, detail=evil, outcome=evil, href='/jobs/1"><b>')
    drawn = str(draw([one], NOON))
    assert "<script" not in drawn
    assert not set(drawn) & {"\x1b", "\u202e", "\u200b", "\x07"}
    assert len(elements(drawn, "failed")) == 2


def test_attempts_are_read_from_the_rows_of_the_view() -> None:
    row = {"job_id": 7, "run_id": 1, "name": "a/b", "at": at(5), "attempt": 1, "what": "lost"}
    row |= {"by": "box-a:1", "waited": 5, "took": 2.5, "detail": "lease_lapsed"}
    event = {**row, "attempt": None, "what": "reclaimed"}
    running = {**row, "attempt": 2, "what": "running", "waited": None, "took": 9}
    infinite = {**row, "at": FarTime.read("infinity")}
    lost, runs, _ = spans_of([row, event, running, infinite], lambda job: f"/jobs/{job}")
    assert (lost.queued_at, lost.ended_at, lost.href) == (at(0), at(7.5), "/jobs/7")
    assert (runs.queued_at, runs.ended_at) == (None, None)
