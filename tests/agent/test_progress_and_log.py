"""The progress that a body reports while it runs, and its log."""

from __future__ import annotations

import functools
import os
import re
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


def test_the_beginning_and_the_end_of_a_long_log_are_kept(shared: Database) -> None:
    attempt = shared.attempted(shared.enqueue("printing", {"what": "much"}))
    log = attempt["log_tail"]
    assert log.startswith("line 0\nline 1\n")
    assert log.endswith("line 99998\nline 99999\n")
    assert 60_000 < len(log.encode()) <= 65_536
    begin, gap, end = re.split(r"\n… ([\d,]+) bytes left out …\n", log)
    printed = sum(len(f"line {n}\n") for n in range(100_000))
    assert len(begin) + int(gap.replace(",", "")) + len(end) == printed
    assert re.fullmatch(r"line \d+", begin.splitlines()[-1])
    assert re.fullmatch(r"line \d+", end.splitlines()[0])


@pytest.mark.parametrize("size", [399, 400, 401, 500, 816, 817, 1000, 5000, 100_000])
@pytest.mark.parametrize("step", [7, 1000])
@pytest.mark.parametrize("what", [b"0123456789", b"ab\n", b"\xff", "ä€😀".encode(), b"\0a"])
def test_a_log_has_at_most_its_limit_and_tells_what_is_left_out(
    size: int, step: int, what: bytes
) -> None:
    reader, writer = os.pipe()
    mark, limit = bytes(range(100, 116)), 400
    log = LogPipe(reader, mark, limit)
    printed = (what * (size // len(what) + 1))[:size]
    for text in (printed + mark, b"next" + mark, printed):
        for at in range(0, len(text), step):
            os.write(writer, text[at : at + step])
            log.read()
    first, second, third = log.take(), log.take(), log.take()
    os.close(writer)
    os.close(reader)
    assert second == "next"
    assert len(first.encode()) <= limit
    assert len(third.encode()) <= limit
    whole = printed.decode(errors="replace").replace("\0", "")
    for one in (first, third):
        gap = re.search(r"\n… [\d,]+ bytes left out …\n", one)
        assert one == whole if gap is None else whole.startswith(one[:20])
    if len(whole.encode()) > limit and size > 2 * limit:
        assert first != whole != third


def test_the_log_of_a_killed_child_is_shortened_too(base: Database, start: StartAgent) -> None:
    start("--app", "bodies")
    attempt = base.attempted(base.enqueue("dying_after_much_output"))
    assert attempt["outcome"] == "lost"
    assert attempt["log_tail"].startswith("line 0\n")
    assert " bytes left out …\n" in attempt["log_tail"]
    assert attempt["log_tail"].endswith("line 99999\n")


def test_each_job_gets_its_own_log(shared: Database) -> None:
    ids = [shared.enqueue("printing", {"what": f"this is {n}"}) for n in range(40)]
    for n, job_id in enumerate(ids):
        assert shared.attempted(job_id)["log_tail"] == f"this is {n}\n"
    silent = shared.attempted(shared.enqueue("noop"))
    assert silent["log_tail"] == "", "it printed nothing; null would say that no log was sent"


def test_a_log_that_is_taken_before_its_mark_moves_no_other() -> None:
    """The answer of a short job can be read a moment before its mark."""
    reader, writer = os.pipe()
    mark = bytes(range(16))
    log = LogPipe(reader, mark, 100)
    os.write(writer, b"one")
    assert log.take() == "one"
    assert log.take() == ""
    os.write(writer, mark + mark + b"three" + mark)
    assert [log.take(), log.take()] == ["three", ""]
    os.close(writer)
    os.close(reader)


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
