"""Charts of what bodies track, and tables and files of attempts that fail."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import psycopg
import pytest

from qwf_agent.web.drawings import tracked
from qwf_agent.web.site import files, listed_table
from support import asking
from support.made_jobs import claim, enqueue, finish, start_run
from support.visitors import Visit

Db = psycopg.Connection[Any]


def track(db: Db, job: int, **names: list[list[float | None]]) -> None:
    series = {
        "names": {name: {"points": points, "reported": 9} for name, points in names.items()},
        "left_out": 2,
    }
    db.execute(
        "select qwf.progress(id, token, series => %s) from qwf.jobs where id = %s",
        (json.dumps(series), job),
    )


def test_a_job_shows_a_chart_for_each_name_and_what_is_left_out(visit: Visit, db: Db) -> None:
    """Without a script: the last value, the ends of the scales, how many points are left out."""
    job = enqueue(db, "train", max_attempts=4)
    (first,) = claim(db, "default", "box-a")
    track(db, job, loss=[[1, 0.9], [2, 0.5]], **{"<b>": [[1, 1]]})
    finish(db, first, "fatal", "no")
    db.execute("select qwf.retry_job(%s)", (job,))
    claim(db, "default", "box-a")
    track(db, job, loss=[[1, 0.8], [2, None], [3, 0.25]])
    page = visit("viewer").text(f"/jobs/{job}")
    assert 'aria-label="loss: last 0.25 at step 3, lowest 0.25, highest 0.9"' in page
    assert "<strong>&lt;b&gt;</strong>" in page
    assert page.count('<path class="hue-') == 3
    assert "3 of 9 points" in page
    assert "2 more names are not kept" in page


def test_a_run_has_a_tab_if_a_node_has_tracked_something(visit: Visit, db: Db) -> None:
    """A line for each job, with its link."""
    run = start_run(
        db, {"id": "a", "node": "a", "queue": "gpu"}, {"id": "b", "node": "b", "queue": "gpu"}
    )
    visitor = visit("viewer")
    assert "show=tracked" not in visitor.text(f"/runs/{run}")
    claimed = "select job_id from qwf.claim('gpu', 'w', 2)"
    jobs = [row[0] for row in db.execute(claimed)]
    for job in jobs:
        track(db, job, loss=[[1, 0.9], [2, 0.5]])
    page = visit("viewer").text(f"/runs/{run}?show=tracked")
    assert f'href="/runs/{run}?show=tracked" aria-current="page"' in page
    assert page.count('<i class="hue-1"') == 1
    assert page.count('<path class="hue-') == 2
    assert all(f'href="/jobs/{job}"' in page for job in jobs)


def test_files_of_an_attempt_that_failed_say_so_and_a_csv_is_a_table(
    visit: Visit, db: Db, tmp_path: Path
) -> None:
    job = asking.ask(db, widget="confirm")
    text = b"name;count\n" + b"".join(b"<i>%d;%d\n" % (n, n) for n in range(300))
    asking.list_file(db, tmp_path, "ask/t.csv", text, job, 1)
    asking.list_file(db, tmp_path, "ask/n.txt", b"a", job, 2)
    db.execute("update qwf.run_files set completed = false, attempt = 2, kind = 'csv'")
    visitor = visit("viewer", files=[files.Root(tmp_path)])
    page = visitor.text(f"/jobs/{job}")
    assert f'href="/files/{job}/1/table"' in page
    assert "left by attempt 2, which did not complete" in page
    table = visitor.text(f"/files/{job}/1/table")
    assert table.count("<tr>") == 201
    assert "<td>&lt;i&gt;199</td><td>199</td>" in table
    assert "The first 200 rows" in table
    assert visitor.get(f"/files/{job}/2/table").status_code == 404
    assert visitor.get(f"/files/{job}/9/table").status_code == 404
    assert visit("viewer").get(f"/files/{job}/1/table").status_code == 404


@pytest.mark.parametrize(
    ("text", "is_cut", "expected"),
    [
        ("", False, ([], [], False)),
        ('a,b\n"1\n2",3\n4', True, (["a", "b"], [["1\n2", "3"]], True)),
        ("a\tb\n1\t2", False, (["a", "b"], [["1", "2"]], False)),
        ("a\n" + "x" * 300, False, (["a"], [["x" * 200 + "…"]], False)),
    ],
)
def test_a_table_is_read_as_it_is(text: str, is_cut: bool, expected: Any) -> None:
    table = listed_table.parse(text, is_cut)
    assert (table.names, table.rows, table.more_rows) == expected


def test_a_line_of_many_points_keeps_its_ends() -> None:
    """Of 500 points the lowest and the highest of each part are drawn."""
    points = [[step, 7 if step == 250 else step % 2] for step in range(500)]
    row = {"name": "x", "points": points, "last_value": 1, "last_step": 499}
    (chart,) = tracked.draw([row])
    assert (chart.low, chart.high) == ("0", "7")
    assert len(re.findall("[ML]", chart.lines[0].path)) <= 202
    assert " 0.0" in chart.lines[0].path
    flat = tracked.draw([{**row, "points": [[1, 2], [1, 2]]}])[0].lines[0].path
    assert flat == "M200.0 50.0h.1L200.0 50.0"
