"""The progress that a body reports while it runs, and its log."""

from __future__ import annotations

import functools
import os
from pathlib import Path

import pytest

from qwf_agent.child.job_context import StatusCallback
from qwf_agent.child.scoreboard import Scoreboard
from qwf_agent.system.log_pipe import LogPipe
from support.harness import Database, StartAgent, until


def test_the_last_progress_of_a_running_body_is_in_its_row(
    shared: Database, tmp_path: Path
) -> None:
    file = tmp_path / "go on"
    job_id = shared.enqueue("counting", {"steps": 10_000, "file": str(file)})
    until(lambda: shared.job(job_id)["progress_message"] == "step 10000", "the last message")
    assert shared.job(job_id)["progress"] == pytest.approx(0.5)
    assert shared.job(job_id)["beat_at"] is not None
    file.touch()
    assert shared.ended(job_id)["status"] == "completed"


@pytest.mark.parametrize(
    ("fraction", "told"),
    [(50.0, "status_callback(50) counts as 1:"), (-0.5, "status_callback(-0.5) counts as 0:"),
     (float("nan"), "status_callback(nan) counts as 0:")],
)  # fmt: skip
def test_a_fraction_that_is_not_from_0_to_1_is_told_once(
    capsys: pytest.CaptureFixture[str], fraction: float, told: str
) -> None:
    report = StatusCallback(Scoreboard(), 1)
    for fine in (0, 0.5, 1):
        report(fine)
    assert capsys.readouterr().out == ""
    report(fraction)
    report(fraction)
    said = capsys.readouterr().out
    assert (said.count("warning"), told in said) == (1, True)


def test_what_programs_print_is_in_the_log_too(shared: Database) -> None:
    attempt = shared.attempted(shared.enqueue("printing", {"what": "subprocess"}))
    assert attempt["log_tail"] == "from a program\nand its errors\n"


def test_binary_output_does_no_harm(shared: Database) -> None:
    attempt = shared.attempted(shared.enqueue("printing", {"what": "binary"}))
    assert attempt["outcome"] == "completed"
    assert "\x01\x02" in attempt["log_tail"]
    assert "\ufffd" in attempt["log_tail"]


def test_the_end_of_a_long_log_is_kept(shared: Database) -> None:
    attempt = shared.attempted(shared.enqueue("printing", {"what": "much"}))
    assert attempt["log_tail"].endswith("line 99998\nline 99999\n")
    assert 60_000 < len(attempt["log_tail"]) <= 65_536


def test_each_job_gets_its_own_log(shared: Database) -> None:
    ids = [shared.enqueue("printing", {"what": f"this is {n}"}) for n in range(40)]
    for n, job_id in enumerate(ids):
        assert shared.attempted(job_id)["log_tail"] == f"this is {n}\n"
    silent = shared.attempted(shared.enqueue("noop"))
    assert silent["log_tail"] == "", "it printed nothing; null would say that no log was sent"


def test_marks_split_a_log_wherever_reads_end() -> None:
    reader, writer = os.pipe()
    mark = bytes(range(16))
    log = LogPipe(reader, mark, 10)
    for part in (b"one", mark[:5], mark[5:], b"0123456789abc" + mark + b"re", b"st"):
        os.write(writer, part)
        log.read()
    assert [log.take(), log.take(), log.take(), log.take()] == ["one", "3456789abc", "rest", ""]
    os.close(writer)
    assert not log.read()
    os.close(reader)


def test_progress_is_read_whole_or_not_at_all() -> None:
    board = Scoreboard()
    assert board.progress() is None
    board.report(7, 0.25, "a" * 5000)
    first = board.progress()
    assert first is not None
    assert (first.ticket, first.fraction, first.message) == (7, 0.25, "a" * 2000)
    board.report(7, 0.5, "")
    second = board.progress()
    assert second is not None
    assert second.version > first.version
    assert second.message == ""
    board.start(9)
    assert board.running()[0] == 9


def test_a_log_that_is_followed_is_sent_while_it_grows(
    base: Database, start: StartAgent, tmp_path: Path
) -> None:
    start("--app", "bodies")
    gates = [tmp_path / f"gate {n}" for n in range(3)]
    job_id = base.enqueue("talking", {"gates": list(map(str, gates))})
    base.running(job_id)

    def tail() -> str:
        return str(base.one("select tail from qwf.follow_log(%s)", job_id) or "")

    for number, gate in enumerate(gates):
        gate.touch()
        until(functools.partial(lambda word: word in tail(), f"word {number}"), f"word {number}")
    assert "word 0\nword 1\nword 2" in tail()
    (tmp_path / "gate end").touch()
    assert base.ended(job_id)["status"] == "completed"
