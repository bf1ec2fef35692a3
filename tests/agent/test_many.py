"""Many async bodies run at once in one child."""

from __future__ import annotations

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg

from qwf_agent import jobs
from support.harness import DRIVER, Database, StartAgent, lines, until


def test_many_bodies_run_at_once_in_one_child(base: Database, start: StartAgent) -> None:
    """Fifty bodies of a second end in much less than fifty seconds, all in one process."""
    start("--app", "many")
    jobs = [base.enqueue("nap", {"seconds": 1}) for _ in range(100)]
    pids = {base.ended(job)["output"]["pid"] for job in jobs}
    assert len(pids) == 1
    took = "select extract(epoch from max(finished_at) - min(started_at)) from qwf.jobs"
    assert base.one(took) < 20
    assert base.one("select slots from qwf.workers") == 50
    assert base.invariants() == []


def test_what_a_body_prints_is_in_its_own_log(base: Database, start: StartAgent) -> None:
    start("--app", "many")
    jobs = {name: base.enqueue("talk", {"name": name, "lines": 20}) for name in "abcdefgh"}
    for name, job in jobs.items():
        assert base.ended(job)["output"] == {"name": name, "job": job}
        expected = [line for n in range(20) for line in (f"{name} says {n}", f"{name} thinks {n}")]
        assert base.attempts(job)[0]["log_tail"].splitlines() == expected


def test_a_body_ends_by_itself_and_only_by_itself(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """An error, an exit, a cancel and a timeout end one job each; all beside them go on."""
    start("--app", "many", "--out-root", str(tmp_path / "out"))
    neighbour = base.enqueue("nap", {"seconds": 4})
    mark = tmp_path / "begun"
    cancelled = base.enqueue("nap", {"seconds": 600, "file": str(mark)})
    late = base.enqueue("nap", {"seconds": 600}, timeout="1 s", max_losses=1)
    failed = base.enqueue("fail", {"how": "wrong"}, max_attempts=1)
    exits = base.enqueue("fail", {"how": "exit"}, max_attempts=1)
    forked = base.enqueue("fork")
    wrote = [base.enqueue("write", {"text": text}) for text in ("one", "two")]
    until(mark.exists, "the body to cancel")
    base.conn.execute("select qwf.cancel_job(%s)", [cancelled])
    assert base.ended(cancelled)["status"] == "cancelled"
    assert base.ended(late)["status"] == "failed"
    attempt = base.attempts(late)[0]
    assert (attempt["outcome"], attempt["reason"]) == ("lost", "timeout")
    assert base.ended(failed)["last_error"].startswith("ValueError: wrong")
    assert base.ended(exits)["last_exit_code"] == 3
    assert base.ended(forked)["output"] == {"status": 0}
    for job, text in zip(wrote, ("one", "two"), strict=True):
        until(lambda: base.job(job)["progress_message"] == f"wrote {text}", "its progress")  # noqa: B023
        assert base.ended(job)["status"] == "completed"
        (file,) = (tmp_path / "out").rglob(f"jobs/{job}/text.txt")
        assert file.read_text() == text
        files = "select rel_path from qwf.run_files where job_id = %s"
        assert base.one(files, job) == "text.txt"
    assert base.ended(neighbour)["attempt"] == 1
    assert base.invariants() == []


def test_a_body_that_does_not_stop_ends_its_process_and_only_it_is_to_blame(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    base.conn.execute("""select qwf.change_settings('{"cancel_grace": "1 s"}')""")
    start("--app", "many")
    deaf = base.enqueue("deaf", {"file": str(tmp_path / "deaf")}, timeout="1 s", max_losses=1)
    neighbours = [base.enqueue("nap", {"seconds": 6}) for _ in range(5)]
    assert base.ended(deaf)["status"] == "failed"
    assert base.attempts(deaf)[0]["reason"] == "timeout"
    assert "not now" in base.attempts(deaf)[0]["log_tail"]
    for job in neighbours:
        done, attempts = base.ended(job), base.attempts(job)
        assert (done["status"], done["losses"], done["failures"]) == ("completed", 0, 0)
        assert [(one["outcome"], one["reason"]) for one in attempts] == [
            ("released", "neighbour"), ("completed", None),
        ]  # fmt: skip
        assert f"because of job {deaf}" in attempts[0]["error"]


def test_a_body_that_blocks_the_loop_is_named(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """The loop stands still for five seconds; the scoreboard names the body on the CPU."""
    start("--app", "many")
    blocks = base.enqueue("block", {"file": str(tmp_path / "file")}, max_losses=1)
    neighbour = base.enqueue("nap", {"seconds": 3})
    assert base.ended(blocks)["status"] == "failed"
    attempt = base.attempts(blocks)[0]
    assert (attempt["outcome"], attempt["reason"]) == ("lost", "blocked")
    assert "asyncio.to_thread()" in attempt["error"]
    assert base.ended(neighbour)["losses"] == 0


def test_a_killed_child_loses_nothing_and_doubles_nothing(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """With 50 jobs in flight at most the one on the CPU counts a loss; each ends once."""
    agent = start("--app", "many")
    mark = tmp_path / "begun"
    jobs = [base.enqueue("nap", {"seconds": 3, "file": str(mark)}) for _ in range(50)]
    until(lambda: mark.exists() and len(lines(mark)) == 50, "all bodies")
    (child,) = agent.children()
    os.kill(child, signal.SIGKILL)
    done = [base.ended(job) for job in jobs]
    assert {one["status"] for one in done} == {"completed"}
    assert sum(one["losses"] for one in done) <= 1
    assert {one["attempt"] for one in done} == {2}
    assert len(lines(mark)) == 100
    assert base.invariants() == []


def test_what_ends_its_process_again_and_again_runs_alone(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """Nobody can be named, so all are given back three times; then the culprit is found."""
    start("--app", "many")
    culprit = base.enqueue("crash_from_a_thread", max_losses=1)
    neighbours = [base.enqueue("nap", {"seconds": 1.5}) for _ in range(3)]
    assert base.ended(culprit)["status"] == "failed"
    outcomes = [(one["outcome"], one["reason"]) for one in base.attempts(culprit)]
    assert outcomes == [("released", "neighbour")] * 3 + [("lost", "crashed")]
    for job in neighbours:
        assert (base.ended(job)["status"], base.ended(job)["losses"]) == ("completed", 0)


def test_a_crash_is_the_fault_of_the_body_on_the_cpu(base: Database, start: StartAgent) -> None:
    start("--app", "many")
    neighbour = base.enqueue("nap", {"seconds": 2})
    crash = base.enqueue("crash", max_losses=1)
    assert base.ended(crash)["status"] == "failed"
    assert [one["reason"] for one in base.attempts(crash)] == ["crashed"]
    assert base.ended(neighbour)["losses"] == 0


def test_bodies_are_told_to_stop(base: Database, start: StartAgent, tmp_path: Path) -> None:
    """A body with stopping gives its job back; SIGTERM lets the others end."""
    agent = start("--app", "many")
    mark = tmp_path / "file"
    saved = base.enqueue("save", {"file": str(mark)})
    naps = tmp_path / "naps"
    napping = base.enqueue("nap", {"seconds": 2, "file": str(naps)})
    until(lambda: mark.exists() and naps.exists(), "both bodies")
    assert agent.stop() == 0
    assert base.job(napping)["status"] == "completed"
    assert base.job(saved)["status"] == "queued"
    assert base.attempts(saved)[0]["error"] == "saved, because of stop"


def test_worker_off_ends_the_bodies_of_that_worker_only(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    start("--app", "many", "--queue", "default", "--queue", "cpu", "--host", "box")
    mark, other = tmp_path / "one", tmp_path / "two"
    off = base.enqueue("nap", {"seconds": 600, "file": str(mark)}, queue="cpu")
    stays = base.enqueue("nap", {"seconds": 4, "file": str(other)}, queue="default")
    until(lambda: mark.exists() and other.exists(), "both bodies")
    assert lines(mark) == lines(other)  # one process
    base.conn.execute("select qwf.worker_control('box', 'cpu', 'off', 'hard')")
    until(lambda: base.job(off)["status"] == "queued", "the release")
    assert (base.ended(stays)["status"], base.job(stays)["attempt"]) == ("completed", 1)
    assert base.job(off)["losses"] == 0


def test_an_ordinary_job_gets_its_turn_among_many(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """One child runs either kind; jobs that run at once wait until the other has had its turn."""
    start("--app", "many")
    for _ in range(60):
        base.enqueue("nap", {"seconds": 0.5})
    plain = base.enqueue("plain")
    more = [base.enqueue("nap", {"seconds": 0.5}) for _ in range(400)]
    assert base.ended(plain)["status"] == "completed"
    assert base.job(more[-1])["finished_at"] is None
    assert {base.ended(job)["status"] for job in more} == {"completed"}


def test_a_rate_counts_free_places(base: Database, start: StartAgent) -> None:
    """Jobs of a rate begin when they are claimed: as many at once as there are free places."""
    base.conn.execute("select qwf.create_limit('api', starts => 20, per => '1 min')")
    start("--app", "many")
    for _ in range(20):  # so that the agent knows that its jobs run at once
        base.enqueue("nap", {"seconds": 0.2})
    jobs = [base.enqueue("nap", {"seconds": 1.0}, limit_by="api") for _ in range(30)]
    done = "select count(*) from qwf.jobs where limit_by = 'api' and status = 'completed'"
    until(lambda: base.one(done) == 20, "twenty starts")
    assert base.one("select count(*) from qwf.job_attempts where outcome <> 'completed'") == 0
    assert base.job(jobs[-1])["status"] == "queued"


def test_bodies_that_run_at_once_save_and_resume(base: Database, start: StartAgent) -> None:
    """Each has its own checkpoint, saved from a thread; in the event loop `save` says so."""
    start("--app", "many")
    ids = [base.enqueue("resume", max_attempts=2, backoff="[0]") for _ in range(40)]
    for job in ids:
        assert base.ended(job)["output"] == {"step": 3000 + job}
        said = base.attempts(job)[0]["log_tail"]
        assert "write await asyncio.to_thread(checkpoint.save, value)" in said
    assert base.invariants() == []


def test_each_of_many_bodies_has_its_own_stream(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    start("--app", "many")
    file = tmp_path / "go"
    ids = [base.enqueue("tell", {"words": 300, "file": str(file)}) for _ in range(3)]

    def follow(job: int) -> str:
        with psycopg.connect(base.dsn, autocommit=True) as conn:
            return "".join(jobs.stream(conn, job))

    with ThreadPoolExecutor(3) as threads:
        streams = [threads.submit(follow, job) for job in ids]
        followed = "select count(*) = 3 from qwf.live_logs"
        until(lambda: base.one(followed), "the followers")
        time.sleep(0.3)  # the agent hears of it
        file.touch()
        for job, stream in zip(ids, streams, strict=True):
            assert stream.result() == "".join(f"{job}ö{number} " for number in range(300))


def test_a_card_that_a_body_has_broken_gets_another_process(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    """The bodies beside it go on; what comes later runs elsewhere, also after a batch."""
    cards = tmp_path / "cards"
    cards.write_text(json.dumps([[0, 0, 80 << 30]]))
    environment = {"FAKE_CARDS": str(cards), "PYTHONPATH": DRIVER}
    start("--app", "many", "--queue", "gpu", "--gpu", "0", **environment)
    beside = base.enqueue("break_card", {"seconds": 3, "broken": False}, queue="gpu")
    broken = base.enqueue("break_card", {"seconds": 1, "broken": True}, queue="gpu")
    assert base.attempted(broken)["reason"] == "accelerator"
    later = base.enqueue("break_card", {"seconds": 0, "broken": False}, queue="gpu")
    pids = [base.ended(job)["output"]["pid"] for job in (beside, later)]
    assert pids[0] != pids[1]
    assert base.job(beside)["attempt"] == 1
    whole = base.enqueue("break_card_in_batch", {"broken": False}, queue="gpu")
    pids.append(base.ended(whole)["output"]["pid"])
    batch = base.enqueue("break_card_in_batch", {"broken": True}, queue="gpu")
    assert base.attempted(batch)["reason"] == "accelerator"
    whole = base.enqueue("break_card_in_batch", {"broken": False}, queue="gpu")
    assert base.ended(whole)["output"]["pid"] not in pids
