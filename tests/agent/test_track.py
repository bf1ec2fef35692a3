"""Bodies track numbers, and attempts that fail leave files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.harness import Database, StartAgent, until

FILES = "select rel_path, of_attempt, completed from qwf.file_overview where job_id = %s"
SERIES = "select name, reported, points, left_out from qwf.series_overview where job_id = %s"
COMMANDS = str(Path(__file__).parent / "user" / "commands")


def series(base: Database, job_id: int) -> dict[str, Any]:
    rows = base.conn.execute(SERIES, (job_id,)).fetchall()
    return {row["name"]: (row["reported"], row["points"], row["left_out"]) for row in rows}


def files(base: Database, job_id: int) -> list[tuple[str, int, bool]]:
    rows = base.conn.execute(FILES, (job_id,)).fetchall()
    return [(row["rel_path"], row["of_attempt"], row["completed"]) for row in rows]


def test_a_training_that_fails_leaves_its_numbers_and_files(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """Of 1,200 points at most 500 are kept, with the last; what is left out is told."""
    start("--app", "bodies", "--out-root", str(tmp_path))
    failed = base.enqueue("tracked_training", {"fails": True}, max_attempts=1)
    assert base.ended(failed)["status"] == "failed"
    until(lambda: "n17" in series(base, failed), "the last numbers")
    found = series(base, failed)
    reported, points, left_out = found["loss"]
    assert (reported, points[0], points[-1], left_out) == (1200, [0, 1], [1199, 1 / 1200], 2)
    assert 300 < len(points) <= 500
    assert found["accuracy"] == (1, [[1201, None]], 2)
    assert len(found) == 20
    (attempt,) = base.attempts(failed)
    assert "leaves out n18" in attempt["log_tail"]
    assert files(base, failed) == [("table.csv", 1, False)]
    well = base.enqueue("tracked_training", {"fails": False})
    base.ended(well)
    assert files(base, well) == [("table.csv", 1, True)]
    assert base.invariants() == []


def test_a_command_writes_lines_to_qwf_track(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """The first bad line is shown and the bad lines are counted; the others count, also if the
    command fails."""
    start("--allow-commands", COMMANDS, "--out-root", str(tmp_path))
    job_id = base.enqueue("command", {"command": ["track.sh", "3"]}, max_attempts=1)
    until(lambda: series(base, job_id), "the first numbers")
    assert base.ended(job_id)["status"] == "failed"
    points = [[1, 0.5], [2, 0.3], [3, 0.2]]
    until(lambda: series(base, job_id)["loss"] == (3, points, 0), "all of them")
    log = base.attempts(job_id)[0]["log_tail"]
    assert "a line of QWF_TRACK is left out: loss 0.4" in log
    assert "2 lines of QWF_TRACK are left out in all" in log
    assert files(base, job_id) == [("half.txt", 1, False)]
