"""Bodies and commands save checkpoints, and the next attempt goes on from the last one."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from support.harness import Database, StartAgent, lines, until

QUICK = "select qwf.create_queue('default', lease => '1.5 s')"
CUT = (
    "select count(pg_terminate_backend(pid)) from pg_stat_activity"
    " where application_name like 'qwf%%' and datname = current_database()"
)


def saved(base: Database, job_id: int) -> dict[str, int] | None:
    value: dict[str, int] | None = base.one(
        "select checkpoint from qwf.job_details where id = %s", job_id
    )
    return value


def test_a_training_killed_three_times_ends_once(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """No epoch is trained twice, and a box that comes back cannot overwrite a checkpoint."""
    base.one(QUICK)
    first = start("--app", "bodies", "--host", "a")
    job_id = base.enqueue("epochs", {"folder": str(tmp_path), "last": 13}, max_losses=5)

    def waits_after(attempt: int, epoch: int) -> None:
        until(lambda: f"{attempt}:{epoch}" in lines(tmp_path / "saved"), f"epoch {epoch}")
        assert saved(base, job_id) == {"epoch": epoch, "qwf.steps": {"download": {"by": 1}}}

    waits_after(1, 3)
    os.kill(first.children()[0], signal.SIGKILL)
    second = start("--app", "bodies", "--host", "b")
    waits_after(2, 6)
    holder = first if base.job(job_id)["claimed_by"].startswith("a:") else second
    for pid in [holder.pid, *holder.children()]:
        os.kill(pid, signal.SIGKILL)
    frozen = second if holder is first else first
    waits_after(3, 9)
    stopped = [frozen.pid, *frozen.children()]
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    start("--app", "bodies", "--host", "c")
    waits_after(4, 12)
    (tmp_path / "gate-3").touch()
    for pid in stopped[::-1]:
        os.kill(pid, signal.SIGCONT)
    until(lambda: "lost" in frozen.said(), "the news that the job is lost")
    waits_after(4, 12)
    (tmp_path / "gate-4").touch()
    assert base.ended(job_id)["output"] == {"downloaded_by": 1}
    trained = [line.split(":")[1] for line in lines(tmp_path / "saved")]
    assert trained == [str(epoch) for epoch in range(1, 14)]
    assert [one["outcome"] for one in base.attempts(job_id)] == [*["lost"] * 3, "completed"]
    assert base.invariants() == []


def test_a_checkpoint_is_json_that_fits(shared: Database) -> None:
    """A body is told what is wrong with a checkpoint, and what was saved before stays."""
    job = shared.ended(shared.enqueue("odd_checkpoints"))
    output = job["output"]
    assert output["said"] == [
        "a checkpoint is a dict, not a list",
        "the key 'qwf.steps' of a checkpoint is that of checkpoint.step()",
        "the checkpoint is not JSON: it contains a value of type set at x",
        "the checkpoint is not JSON: Out of range float values are not JSON compliant at x",
        "the checkpoint contains a NUL character, which Postgres cannot store",
        "the checkpoint is not JSON: 'utf-8' codec can't encode character '\\ud800' in position 7:"
        " surrogates not allowed",
        "the checkpoint has 1048585 bytes, the limit is 1048576: write a file, and save its path",
    ]
    assert output["pair"] == [[1, "/a"]] * 2
    assert output["value"] == {"from": "thread"}
    assert saved(shared, job["id"]) == {"from": "thread", "qwf.steps": {"pair": [1, "/a"]}}


def test_a_save_waits_for_a_database_that_is_away(base: Database, start: StartAgent) -> None:
    """A save that has returned is in the database, also if connections are cut all the time."""
    start("--app", "bodies")
    job_id = base.enqueue("saving_often", {"count": 60})
    cuts = 0
    while base.job(job_id)["finished_at"] is None:
        before = (saved(base, job_id) or {}).get("number", -1)
        cuts += base.one(CUT) or 0
        until(
            lambda before=before: (  # type: ignore[misc]
                (saved(base, job_id) or {}).get("number", -1) > before
                or base.job(job_id)["finished_at"]
            ),
            "another checkpoint",
        )
    job = base.job(job_id)
    assert (job["status"], job["output"]) == ("completed", {"number": 59})
    assert cuts > 2
    assert saved(base, job_id) == {"number": 59}


def test_a_command_goes_on_from_its_file(shared: Database) -> None:
    """The last text that it wrote is kept, also just before it ends."""
    job_id = shared.enqueue("command", {"command": ["checkpoint.sh"]}, max_attempts=2,
                            backoff="[0.1]")  # fmt: skip
    shared.ended(job_id)
    logs = [one["log_tail"] for one in shared.attempts(job_id)]
    assert logs == ["found none\n", 'found {"attempt": 1}\n']
    assert saved(shared, job_id) == {"attempt": 2}


def test_a_file_that_is_no_checkpoint_is_not_kept(shared: Database) -> None:
    """The log says why, and what was read a second before stays."""
    jobs = {
        text: shared.enqueue("command", {"command": ["checkpoint.sh", text]})
        for text in ("{", "[1]")
    }
    said = {}
    for text, job_id in jobs.items():
        shared.ended(job_id)
        (attempt,) = shared.attempts(job_id)
        said[text] = attempt["log_tail"].splitlines()[1]
        assert saved(shared, job_id) == {"attempt": 1}
    assert said["{"].startswith("warning: QWF_CHECKPOINT is not kept: Expecting property name")
    assert said["[1]"] == "warning: QWF_CHECKPOINT is not kept: it is not an object"
