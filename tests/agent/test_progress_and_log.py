"""The progress that a body reports while it runs, and its log."""

from __future__ import annotations

import functools
import os
import re
import tracemalloc
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


class Unprintable:
    num_timesteps = 4

    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("given", "named", "stands", "told"),
    [((), {}, (0.25, ""), "status_callback() counts as 0.25:"),
     (("denoise",), {}, (0.25, "denoise"), "status_callback(denoise) counts as 0.25:"),
     (("denoise", 3), {}, (0.25, "denoise"), "status_callback(denoise, 3) counts as 0.25:"),
     ((0.5, 7), {}, (0.5, "7"), None), ((), {"fraction": 0.5}, (0.5, ""), None),
     ((), {"step": 3, "latents": object()}, (0.25, "step=3, latents=object"),
      "status_callback(step=3, latents=object) counts as 0.25:"),
     ((0.5, "half", 7), {}, (0.5, "half"), "(0.5, half, 7) counts as 0.5:"),
     ((), {"fraction": 0.5, "message": "half", "step": 3}, (0.5, "half"),
      "(fraction=0.5, message=half, step=3) counts as 0.5:"),
     ((Unprintable(), Unprintable()), {}, (0.25, "Unprintable"), "counts as 0.25:"),
     ((None, 2, 981.0, {"latents": [1]}), {}, (0.25, "step 2"), "counts as 0.25:"),
     ((Unprintable(), 2, 981.0, {"latents": [1]}), {}, (0.75, "step 3 of 4"), None)],
)  # fmt: skip
def test_a_report_takes_any_arguments_and_says_once_that_it_lacks_a_fraction(
    capsys: pytest.CaptureFixture[str], given: tuple[object, ...], named: dict[str, object],
    stands: tuple[float, str], told: str | None,
) -> None:  # fmt: skip
    board = Scoreboard()
    report = StatusCallback(board, 1)
    report(0.25)
    for _ in range(2):
        back = report(*given, **named)
    assert back is (given[3] if len(given) == 4 else None)
    record = board.progress()
    assert record is not None
    assert (record.version, record.fraction, record.message) == (3, *stands)
    said = capsys.readouterr().out
    assert said.count("warning") == (0 if told is None else 1)
    assert (told or "") in said


def test_what_programs_print_is_in_the_log_too(shared: Database) -> None:
    attempt = shared.attempted(shared.enqueue("printing", {"what": "subprocess"}))
    assert attempt["log_tail"] == "from a program\nand its errors\n"


def test_binary_output_does_no_harm(shared: Database) -> None:
    attempt = shared.attempted(shared.enqueue("printing", {"what": "binary"}))
    assert attempt["outcome"] == "completed"
    assert "\x01\x02" in attempt["log_tail"]
    assert "\ufffd" in attempt["log_tail"]


def test_of_a_progress_bar_its_last_state_is_kept(shared: Database) -> None:
    attempt = shared.attempted(shared.enqueue("printing", {"what": "a progress bar"}))
    assert attempt["log_tail"] == "100 %"


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


@pytest.mark.parametrize("step", [1, 7, 1000, 65536])
@pytest.mark.parametrize(
    ("printed", "kept"),
    [
        (b"a\rb\rc\nd", "c\nd"),
        (b"one\r\ntwo\r\r\nthree\r\n", "one\ntwo\nthree\n"),
        (b"10%\r20%\r", "20%"),
        (b"\r\r\n\r", "\n"),
        (b"begin\n" + b"".join(b"%9d of 3000\r" % n for n in range(3000)) + b"\nend\n",
         "begin\n     2999 of 3000\nend\n"),
        ("ä\r".encode() * 2000 + "€\n".encode(), "€\n"),
    ],
)  # fmt: skip
def test_of_a_line_is_kept_what_follows_its_last_carriage_return(
    printed: bytes, kept: str, step: int
) -> None:
    assert logs_of([printed], 400, step) == [kept, kept, kept]


@pytest.mark.parametrize("text", ["ä", "€", "😀", "aä€😀", "😀\n", "a😀\r€"])
@pytest.mark.parametrize("extra", range(4))
@pytest.mark.parametrize("step", [7, 4096])
def test_no_character_is_cut(text: str, extra: int, step: int) -> None:
    printed = ("x" * extra + text * 2000).encode()
    for log in logs_of([printed], 401, step):
        assert "\ufffd" not in log
        assert len(log.encode()) <= 401


def test_followers_get_whole_characters_that_add_up() -> None:
    """Each part is what the offset has grown by; a character that is cut comes with the next."""
    reader, writer = os.pipe()
    log = LogPipe(reader, b"\xff" * 16, 400)
    printed, told, seen = "aä€😀\r\n" * 40, "", 0
    for byte in printed.encode():
        os.write(writer, bytes([byte]))
        log.read()
        offset, tail = log.whole_tail(16)
        told += tail.encode()[len(tail.encode()) - (offset - seen) :].decode()
        seen = offset
    os.close(writer)
    os.close(reader)
    assert told == printed


@pytest.mark.parametrize("line", [b"x" * 65536, b"y" * 9999 + b"\n", b"z" * 999 + b"\r", b"\r"])
def test_endless_output_takes_no_memory(line: bytes) -> None:
    """A body that prints without end; also one line without an end, or that it writes again."""
    reader, writer = os.pipe()
    log = LogPipe(reader, os.urandom(16), 65536)
    data = (line * (65536 // len(line) + 1))[:65536]
    tracemalloc.start()
    for _ in range(1024):  # 64 MiB
        os.write(writer, data)
        log.read()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    text = log.take()
    os.close(writer)
    os.close(reader)
    assert most < 2 << 20
    assert len(text.encode()) <= 65536


def logs_of(parts: list[bytes], limit: int, step: int) -> list[str]:
    """The logs of a job that prints this, of a second one, and of a third whose child was killed;
    what they print comes in pieces of `step` bytes."""
    reader, writer = os.pipe()
    mark = b"\r\n" + bytes(range(100, 114))
    log, found = LogPipe(reader, mark, limit), []
    printed = b"".join(parts)
    for text in (printed + mark, printed + mark, printed):
        for at in range(0, len(text), step):
            os.write(writer, text[at : at + step])
            log.read()
        found.append(log.take())
    os.close(writer)
    os.close(reader)
    return found


def test_an_agent_stays_small_while_a_body_prints_without_end(
    base: Database, start: StartAgent
) -> None:
    agent = start("--app", "bodies")
    assert base.attempted(base.enqueue("noop"))["outcome"] == "completed"
    before = most_memory(agent.pid)
    attempt = base.attempted(base.enqueue("printing", {"what": "one endless line"}))
    assert attempt["outcome"] == "completed"
    assert most_memory(agent.pid) - before < 16 << 20
    assert len(attempt["log_tail"].encode()) <= 65_536
    begin, gap, end = re.split(r"\n… ([\d,]+) bytes left out …\n", attempt["log_tail"])
    assert len(begin) + int(gap.replace(",", "")) + len(end) == 1 << 27
    assert set(begin + end) == {"x"}


def most_memory(pid: int) -> int:
    """The largest resident memory that a process has had, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) << 10


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
