"""Commands about jobs: listing, details, logs, waiting, submitting commands."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from qwf_agent.cli import follow, read
from qwf_agent.look import query
from qwf_agent.system.log_pipe import last_writing
from support.welcome import Cli

Work = Callable[..., list[str]]
Db = psycopg.Connection[Any]

TRACEBACK = 'Traceback (most recent call last):\n  File "mail.py"\nValueError: no such address'


def finish_next(db: Db, outcome: str, error: str | None = None, **detail: Any) -> None:
    """Claim the next job of queue default and finish it with this outcome."""
    db.execute(
        "select qwf.finish(job_id, token, %s, '{}', %s, %s) from qwf.claim('default', 'box-a', 1)",
        (outcome, error, Jsonb(detail)),
    )


@pytest.fixture
def failed(on_db: Cli, db: Db) -> str:
    """A job that was lost once and failed twice, with logs."""
    job = on_db("enqueue", "send", "--max-attempts", "2", "--backoff", "[0]").stdout.strip()
    finish_next(db, "lost", "killed", reason="oom", signal=9, log_tail="")
    finish_next(db, "error", "first failure", log_tail="one\n")
    db.execute("select qwf.tick()")
    finish_next(
        db, "error", TRACEBACK, log_tail="".join(f"line {n}\n" for n in range(1, 31)), exit_code=3
    )
    return job


def test_a_job_shows_its_whole_history(
    on_db: Cli, failed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    shown = on_db("job", failed).stdout
    for part in (
        *("send  ✗ failed", "2 failures, 1 loss", "enqueued by ", "lost  oom", "signal 9"),
        *("attempt 2  error", "attempt 3  error", "exit code 3", "ValueError: no such address"),
        *("last 20 of 30 lines", "line 30", "line 11"),
    ):
        assert part in shown, shown
    assert "signal 9.0" not in shown
    assert "avoid host" not in shown  # that is over
    assert "line 10\n" not in shown
    (second,) = [line for line in shown.splitlines() if "attempt 2  error" in line]
    assert second.endswith("  first failure")
    (third,) = [line for line in shown.splitlines() if "attempt 3" in line and "took" in line][:1]
    assert third.endswith("  ValueError: no such address")
    assert f"qwf job {failed} --attempt 2" in shown
    assert shown.index("attempt 1  lost") < shown.index("attempt 2  error")
    assert shown.index("attempt 2  error") < shown.index("attempt 3  error")


def test_a_release_is_no_try(on_db: Cli, db: Db) -> None:
    job = on_db("enqueue", "send", "--timeout", "2 min").stdout.strip()
    finish_next(db, "released")
    finish_next(db, "completed")
    assert "  1 (released 1)  " in on_db("jobs").stdout
    shown = on_db("job", job).stdout
    assert "attempt 2, 1 released" in shown
    assert "timeout  2 min\n" in shown
    assert "--attempt" not in shown


def test_an_earlier_attempt_is_shown_whole(on_db: Cli, failed: str) -> None:
    assert "first failure" in on_db("job", failed, "--attempt", "2").stdout
    assert "line 1\n" in on_db("job", failed, "--attempt", "3").stdout
    assert on_db("job", failed, "--attempt", "4").exit_code == 1


def test_a_job_as_json_has_attempts_events_and_files(on_db: Cli, db: Db) -> None:
    job = on_db("enqueue", "draw").stdout.strip()
    finish_next(db, "completed", files=[{"rel_path": "a.png", "kind": "image", "size_bytes": 2048}])
    shown = json.loads(on_db("job", job, "--json").stdout)
    assert shown["job"]["status"] == "completed"
    assert [row["outcome"] for row in shown["attempts"]] == ["completed"]
    assert [row["rel_path"] for row in shown["files"]] == ["a.png"]
    assert shown["events"] == []
    assert "a.png" in (said := on_db("job", job).stdout)
    assert "2.0 KiB" in said


def test_a_short_error_is_printed_once(on_db: Cli, db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    error = "timeout: the body ran longer than 2 s and was killed"
    job = on_db("enqueue", "a", "--max-attempts", "1").stdout.strip()
    finish_next(db, "error", error, reason="timeout", log_tail="so far\n")
    said = on_db("job", job).stdout
    assert (said.count(error), said.count("so far"), "whole error" in said) == (1, 1, False)
    assert "timeout  timeout" not in said
    assert on_db("job", job, "--attempt", "1").stdout.count(error) == 2, "if somebody asks for it"


@pytest.mark.parametrize(
    ("usage", "said"),
    [
        ({"prompt_tokens": 1234, "completion_tokens": 56}, "tokens: 1,234 prompt, 56 generated"),
        ({"prompt_tokens": 7, "completion_tokens": 10**400}, "tokens: 7 prompt\n"),
    ],
)
def test_an_attempt_shows_the_tokens_that_it_used(
    on_db: Cli, db: Db, monkeypatch: pytest.MonkeyPatch, usage: dict[str, int], said: str
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    job = on_db("enqueue", "ask").stdout.strip()
    finish_next(db, "completed", usage=usage, batch={"size": 3, "jobs": [1, 2]})
    assert said in on_db("job", job).stdout
    assert "in a batch of 3: jobs 1, 2, …" in on_db("job", job).stdout


def test_the_last_lines_of_a_log_are_printed(on_db: Cli, failed: str) -> None:
    assert on_db("logs", failed, "-n", "2").stdout == "line 29\nline 30\n"


def test_a_waiting_job_says_why(on_db: Cli) -> None:
    job = on_db("enqueue", "send").stdout.strip()
    assert "no live worker serves queue default" in on_db("why", job).stdout
    assert "no live worker" in on_db("job", job).stdout
    assert json.loads(on_db("why", job, "--json").stdout)[0].startswith("no live worker")


def test_why_breaks_its_lines_between_words(on_db: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = on_db("why", on_db("enqueue", "send").stdout.strip()).stdout.splitlines()
    assert len(lines) > 1
    assert all(len(line) <= 40 for line in lines)
    assert " ".join(lines).startswith("no live worker serves queue default")


def test_a_job_shows_its_log_without_the_colours_of_a_terminal(on_db: Cli, db: Db) -> None:
    job = on_db("enqueue", "send").stdout.strip()
    ((token,),) = db.execute("select token from qwf.claim('default', 'box-a', 1)").fetchall()
    log = Jsonb({"log_tail": "\x1b[31mred\x1b[0m and plain\n"})
    db.execute("select qwf.finish(%s, %s, 'fatal', null, 'no', %s)", (job, token, log))
    assert "red and plain" in on_db("job", job).stdout


def test_the_log_is_printed_as_it_was(on_db: Cli, db: Db, failed: str) -> None:
    assert on_db("logs", failed).stdout.startswith("line 1\nline 2\n")
    assert on_db("logs", failed, "--attempt", "2").stdout == "one\n"
    assert "attempts so far: 3" in on_db("logs", failed, "--attempt", "4").stderr
    waiting = on_db("enqueue", "send").stdout.strip()
    assert "has not started" in on_db("logs", waiting).stderr


def test_a_body_that_printed_nothing_has_an_empty_log(on_db: Cli, failed: str) -> None:
    silent = on_db("logs", failed, "--attempt", "1")
    assert (silent.exit_code, silent.stdout) == (0, "")
    assert "attempt 1 of job 1 printed nothing" in silent.stderr


def test_an_attempt_whose_worker_sent_no_log_is_not_said_to_have_printed_nothing(
    on_db: Cli, db: Db
) -> None:
    job = on_db("enqueue", "send").stdout.strip()
    ((token,),) = db.execute("select token from qwf.claim('default', 'box-a', 1)").fetchall()
    db.execute("select qwf.finish(%s, %s, 'completed')", (job, token))
    for how in (("logs", job), ("logs", "-f", job)):
        told = on_db(*how)
        assert (told.exit_code, told.stdout) == (0, "")
        assert f"the worker of attempt 1 of job {job} sent no log" in told.stderr
        assert "printed nothing" not in told.stderr


def test_the_log_of_a_running_attempt_is_to_be_followed(on_db: Cli, db: Db) -> None:
    job = on_db("enqueue", "send").stdout.strip()
    db.execute("select qwf.claim('default', 'box-a', 1)")
    running = on_db("logs", job)
    assert running.exit_code == 1
    assert "attempt 1 of job 1 still runs" in running.stderr
    assert f"qwf logs -f {job}" in running.stderr


def test_a_followed_log_separates_attempts(on_db: Cli, failed: str) -> None:
    followed = on_db("logs", "-f", failed)
    assert followed.stdout.startswith("one\nline 1\n"), "what the bodies printed, unchanged"
    assert "── attempt 1 ──" not in followed.output, "it printed nothing"
    before, second, rest = followed.output.partition("── attempt 2 ──\none\n")
    assert (before, bool(second)) == ("", True)
    assert rest.startswith("── attempt 3 ──\nline 1\n")


def test_of_a_progress_bar_its_last_state_is_shown(on_db: Cli, db: Db) -> None:
    """A worker in another language sends what a body printed as it came."""
    job = on_db("enqueue", "send").stdout.strip()
    db.execute(
        "select qwf.finish(job_id, token, 'fatal', null, 'no', %s) from qwf.claim('default', 'w')",
        (Jsonb({"log_tail": "begin\r\n 10 %\r 20 %\r\n"}),),
    )
    shown = on_db("job", job).stdout
    assert " 20 %" in shown
    assert "10 %" not in shown


def test_a_job_that_waits_forever_is_shown(on_db: Cli, db: Db) -> None:
    db.execute("select qwf.enqueue('later', run_at => 'infinity')")
    shown = on_db("job", 1)
    assert shown.exit_code == 0, shown.stderr
    assert "it waits for infinity" in shown.stdout
    assert json.loads(on_db("job", 1, "--json").stdout)["job"]["run_at"] == "infinity"
    assert on_db("jobs").exit_code == 0


def test_following_a_log_ends_with_the_job(on_db: Cli, db: Db, connect: Callable[[], Db]) -> None:
    job = on_db("enqueue", "send").stdout.strip()
    side = connect()

    def body() -> None:
        row = side.execute("select job_id, token from qwf.claim('default', 'box-a', 1)").fetchone()
        assert row is not None
        side.execute("select qwf.progress(%s, %s, 0.5, 'half way')", row)
        while not looked.wait(0.05):
            pass
        detail = Jsonb({"log_tail": "printed\n"})
        side.execute("select qwf.finish(%s, %s, 'fatal', null, 'broken', %s)", (*row, detail))

    looked = threading.Event()
    threading.Timer(0.5, looked.set).start()
    helper = threading.Thread(target=body, daemon=True)
    helper.start()
    followed = on_db("logs", "-f", job)
    helper.join(30)
    assert followed.exit_code == 1
    assert followed.stdout == "printed\n"
    assert "50% half way" in followed.stderr
    assert f"job {job} failed" in followed.stderr


def test_submit_enqueues_an_argument_list(on_db: Cli, db: Db) -> None:
    words = ["--queue", "cpu", "--args", '{"a": 1}', "--", "convert.sh", "--size", "800", "a b"]
    job = on_db("submit", *words).stdout.strip()
    row = db.execute("select queue, task, inputs from qwf.jobs where id = %s", (job,)).fetchone()
    command = ["convert.sh", "--size", "800", "a b"]
    assert row == ("cpu", "command", {"a": 1, "command": command})


@pytest.mark.parametrize(("verb", "name"), [("enqueue", "t"), ("submit", "convert.sh")])
def test_a_job_takes_the_same_options_from_enqueue_and_submit(
    on_db: Cli, db: Db, verb: str, name: str
) -> None:
    db.execute("select qwf.create_limit('api', 2)")
    words = ["--queue", "cpu", "--priority", "3", "--key", "k", "--once", "--max-attempts", "4"]
    words += ["--max-losses", "2", "--at-most-once"]
    words += ["--backoff", "[5, 30]", "--timeout", "2min", "--model", "m", "--vram-mb", "9"]
    words += ["--light", "--requires", "disk=ssd", "--limit-by", "api", "--on-failure", "ask"]
    words += ["--expires", "1h", "--project", "shop", "--label", "a=b"]
    result = on_db(verb, *words, "--", name)
    assert result.exit_code == 0, result.output
    row = db.execute(
        "select queue, priority, key, once, max_attempts, max_losses, backoff, timeout::text,"
        " required_model, vram_mb, light, requires, limit_by, on_failure, expires_at is not null,"
        " project, labels, begun"
        " from qwf.job_details"
    ).fetchone()
    wanted = ("cpu", 3, "k", True, 4, 2, [5, 30], "00:02:00", "m", 9, True, {"disk": "ssd"})
    assert row == (*wanted, "api", "ask", True, "shop", {"a": "b"}, False)


@pytest.mark.parametrize(
    ("variable", "named", "project"),
    [("", "", ""), ("alpha", "", "alpha"), ("", "beta", "beta"), ("alpha", "beta", "alpha"),
     ("*", "beta", "")],
)  # fmt: skip
def test_what_commands_enqueue_has_the_project_of_the_box(
    on_db: Cli, db: Db, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    variable: str, named: str, project: str,
) -> None:  # fmt: skip
    file = tmp_path / "qwf.toml"
    file.write_text(f'[agent]\nproject = "{named}"\n')
    monkeypatch.setenv("QWF_CONFIG", str(file))
    monkeypatch.setenv("QWF_PROJECT", variable)
    lines = tmp_path / "lines"
    lines.write_text('{"task": "c"}\n {"task": "d", "project": "own"}\n')
    for words in (
        ["enqueue", "a"], ["submit", "b"], ["enqueue-many", lines],
        ["enqueue", "e", "--project", "own"], ["enqueue", "f", "--project", ""],
        ["schedule", "add", "s", "--task", "g", "--every", "1h"],
    ):  # fmt: skip
        assert on_db(*words).exit_code == 0, words
    found = db.execute("select task, project from qwf.jobs order by task").fetchall()
    assert dict(found) == {
        "a": project, "command": project, "c": project, "d": "own", "e": "own", "f": ""
    }  # fmt: skip
    assert db.execute("select project from qwf.schedules").fetchone() == (project,)


def test_submit_says_that_no_live_worker_runs_commands(on_db: Cli, db: Db) -> None:
    db.execute("""select qwf.register_worker('box-a', 'default', '{"tasks": ["t"]}')""")
    told = on_db("submit", "x").stderr
    assert told.count("no live worker of queue default has task 'command'") == 1


def test_enqueue_says_which_task_was_probably_meant(db: Db) -> None:
    """In plain SQL as in the command, only while no live worker of the queue has the task."""
    said: list[str] = []
    db.add_notice_handler(lambda n: said.append(f"{n.message_primary}: {n.message_hint}"))

    def told(jobs: str) -> list[str]:
        said.clear()
        db.execute(f"select qwf.enqueue_many('[{jobs}]')")  # type: ignore[arg-type]
        many = list(said)
        said.clear()
        db.execute(
            "select qwf.enqueue(j ->> 'task') from jsonb_array_elements(%s) j", [f"[{jobs}]"]
        )
        assert [line for i, line in enumerate(said) if line not in said[:i]] == many
        return many

    nobody = "no live worker serves queue default: the job waits until one does: "
    assert told('{"task": "send_mial"}') == [f"{nobody}qwf agent --queue default"]
    for tasks in ('["send_mail"]', '["thumb", "resize"]'):
        db.execute("select qwf.register_worker('box', 'default', %s)", [f'{{"tasks": {tasks}}}'])
    assert told('{"task": "send_mail"}, {"task": "thumb"}') == []
    assert told('{"task": "send_mial"}, {"task": "thumb"}, {"task": "send_mial"}') == [
        "no live worker of queue default has task 'send_mial': did you mean send_mail?"
    ]
    assert told('{"task": "zzz"}')[0].endswith("start an agent that has it, or cancel the job")
    db.execute("select qwf.register_worker('any', 'default')")
    assert told('{"task": "send_mial"}') == [], "a worker that names no tasks takes any"


def test_submit_needs_no_dashes_before_the_program(on_db: Cli, db: Db) -> None:
    on_db("submit", "convert.sh", "--queue", "x")
    row = db.execute("select queue, inputs -> 'command' from qwf.jobs").fetchone()
    assert row == ("default", ["convert.sh", "--queue", "x"])


@pytest.mark.parametrize(("outcome", "code"), [("completed", 0), ("fatal", 1), ("cancelled", 2)])
def test_submit_and_wait_exits_by_the_outcome(
    on_db: Cli, connect: Callable[[], Db], outcome: str, code: int
) -> None:
    side = connect()

    def work() -> None:
        while not side.execute(
            "select qwf.finish(job_id, token, %s, '{}', null, '{\"log_tail\": \"done\\n\"}')"
            " from qwf.claim('default', 'box-a', 1)",
            (outcome,),
        ).fetchall():
            pass

    helper = threading.Thread(target=work, daemon=True)
    helper.start()
    result = on_db("submit", "--wait", "--", "convert.sh")
    helper.join(30)
    assert result.exit_code == code, result.output
    assert result.stdout == "done\n"


def test_wait_takes_several_and_exits_by_the_worst_outcome(on_db: Cli, db: Db) -> None:
    jobs = [on_db("enqueue", "t").stdout.strip() for _ in range(3)]
    for outcome in ("completed", "fatal", "completed"):
        finish_next(db, outcome)
    assert on_db("wait", "job", jobs[0], jobs[2]).exit_code == 0
    assert on_db("wait", "job", *jobs).exit_code == 1


def test_jobs_filters(on_db: Cli, db: Db) -> None:
    on_db("enqueue", "send", "--queue", "cpu", "--project", "shop")
    on_db("enqueue", "draw")
    db.execute("update qwf.jobs set created_at = created_at - interval '1 day' where task = 'draw'")
    tasks = lambda *words: [  # noqa: E731
        job["task"] for job in json.loads(on_db("jobs", "--json", *words).stdout)
    ]
    assert tasks() == ["draw", "send"]
    assert tasks("--task", "draw") == ["draw"]
    assert tasks("--project", "shop") == ["send"]
    assert tasks("--since", "2h") == ["send"]
    assert tasks("--since", "2000-01-01") == ["draw", "send"]
    assert tasks("--limit", "1") == ["draw"]
    assert tasks("--queue", "gpu") == []
    assert tasks("--status", "queued", "--limit", "100000") == ["draw", "send"]
    keys = json.loads(on_db("jobs", "--json", "--limit", "1").stdout)[0].keys()
    steps = [{"id": "ask", "kind": "input", "widget": "any"}]
    db.execute("select qwf.register_workflow(%s)", [Jsonb({"name": "w", "steps": steps})])
    on_db("run", "w")
    assert json.loads(on_db("jobs", "--json", "--run", "1").stdout)[0].keys() == keys


def test_jobs_searches_on_until_there_are_enough(
    on_db: Cli, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step of the search ends where it may look no further, or with its last row."""
    db.execute("select qwf.enqueue('t' || (g % 2)) from generate_series(1, 9) g")
    monkeypatch.setattr(read, "JOBS", read.JOBS.replace("max_rows", "look_back => 2, max_rows"))
    monkeypatch.setattr(read, "MOST_ROWS", 2)
    for limit, found in (("100", [9, 7, 5, 3, 1]), ("3", [9, 7, 5])):
        rows = json.loads(on_db("jobs", "--json", "--task", "t1", "--limit", limit).stdout)
        assert [row["id"] for row in rows] == found
    assert on_db("jobs", "--json", "--task", "t1", "--queue", "gpu").stdout.strip() == "[]"


def test_options_of_enqueue_reach_the_database(on_db: Cli, db: Db) -> None:
    words = ["--model", "flux", "--vram-mb", "8000", "--requires", "zone=eu", "--backoff", "[1,2]"]
    assert on_db("enqueue", "t", *words).exit_code == 0
    row = db.execute(
        "select required_model, vram_mb, requires, backoff from qwf.job_details"
    ).fetchone()
    assert row == ("flux", 8000, {"zone": "eu"}, [1, 2])


def test_a_log_is_followed_while_the_body_prints(on_db: Cli, connect: Callable[[], Db]) -> None:
    job = on_db("enqueue", "send").stdout.strip()
    side = connect()
    log = "".join(f"line {n}\n" for n in range(40)) + "no end"

    def body() -> None:
        row = side.execute("select job_id, token from qwf.claim('default', 'box-a', 1)").fetchone()
        assert row is not None
        while not side.execute("select * from qwf.followed_logs('box-a')").fetchall():
            pass
        for size in (10, 10, 100, 200):
            side.execute("select qwf.report_log(%s, %s, %s, %s)", (*row, size, log[:size][-80:]))
            looked.wait(0.6)
        detail = Jsonb({"log_tail": log})
        side.execute("select qwf.finish(%s, %s, 'completed', '{}', null, %s)", (*row, detail))

    looked = threading.Event()
    helper = threading.Thread(target=body, daemon=True)
    helper.start()
    followed = on_db("logs", "-f", job)
    helper.join(30)
    assert followed.exit_code == 0, followed.output
    assert followed.stdout.startswith("line 0\nlin")
    assert followed.stdout.endswith("line 39\nno end\n")
    assert followed.stdout.count("line 39\n") == 1


PART = st.text(st.sampled_from("ab\nü"), max_size=8)
LINES = st.text(st.sampled_from("ab\n\rü"), max_size=8)  # some of them are written again


@given(st.lists(PART, max_size=8), PART, st.integers(8, 40))
def test_a_followed_log_is_printed_exactly_once(parts: list[str], last: str, kept: int) -> None:
    """Each read shows only the end of the log; the output is the whole log, in order."""
    printed = followed(parts, last, kept, "".join(parts) + last)
    assert printed.rstrip("\n") == ("".join(parts) + last).rstrip("\n")


@given(st.lists(LINES, max_size=8), LINES, st.integers(8, 40))
def test_a_followed_progress_bar_ends_as_the_kept_log_has_it(
    parts: list[str], last: str, kept: int
) -> None:
    """The kept log lacks what its lines have overwritten; a terminal shows no more in the end."""
    log = last_writing(("".join(parts) + last).encode(), ended=True).decode()
    printed = last_writing(followed(parts, last, kept, log).encode(), ended=True).decode()
    assert printed.rstrip("\n") == log.rstrip("\n")


def followed(parts: list[str], last: str, kept: int, log: str) -> str:
    """Output of `qwf logs -f` for an attempt that prints `parts` and then `last`. Of those each
    read gets the last `kept` characters, and `log` is what is kept."""
    out: list[str] = []

    def echo(text: str = "", nl: bool = True, err: bool = False) -> None:
        out.append("" if err else text + "\n" * nl)

    printed, live = follow.PrintedLog(), ""
    with mock.patch.object(follow.click, "echo", echo):
        for part in parts:
            live += part
            printed.print_live(1, len(live.encode()), live[-kept:])
        printed.print_rest(1, log)
    return "".join(out)


@pytest.mark.parametrize(
    ("typed", "stored", "note"),
    [
        ("1.10", "1.1", "1.10 is stored as the number 1.1; a text is written '\"1.10\"'"),
        ("123e4", "1230000.0", "123e4 is stored as the number 1230000.0"),
        ("-0", "0", "-0 is stored as the number 0"),
        ("[0.12345678901234567890]", "[0.12345678901234568]", "a text keeps its digits"),
        ("007", '"007"', None),
        ("1.5", "1.5", None),
        ("[1.10]", "[1.1]", None),
        ('"1.10"', '"1.10"', None),
        ("12345678901234567890", "12345678901234567890", None),
    ],
)
def test_a_number_that_changes_is_told(
    on_db: Cli, db: Db, typed: str, stored: str, note: str | None
) -> None:
    said = on_db("enqueue", "t", "--set", f"v={typed}")
    assert db.execute("select inputs ->> 'v', inputs -> 'v' = %s from qwf.jobs",
                      (Jsonb(json.loads(stored)),)).fetchone()[1]  # fmt: skip
    assert ("is stored as" not in said.stderr) if note is None else (note in said.stderr)
    assert said.exit_code == 0


@pytest.mark.parametrize(("verb", "language"), [("jobs", query.JOBS), ("runs", query.RUNS)])
def test_every_word_of_a_query_is_taken(on_db: Cli, verb: str, language: query.Language) -> None:
    values = {"run": "1", "since": "2h", "until": "1h", "label": "a=b", "state": "failed"}
    words = [f"{one}:{values.get(one, 'x')}" for one in language.fields
             if one not in ("args", "status")]  # fmt: skip
    found = on_db(verb, *words, *(["args.a=1"] if "args" in language.fields else []))
    assert (found.exit_code, found.stderr) == (0, "")
    assert on_db(verb, "since:2h").exit_code == 0
