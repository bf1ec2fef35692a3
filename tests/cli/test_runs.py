"""Commands that start, show, answer, wait for and cancel runs and jobs."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from support.welcome import OPTIONS, Cli

Db = psycopg.Connection[Any]

Work = Callable[..., list[str]]


def status(qwf: Cli, run: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(qwf("show", run, "--json").stdout)
    return found


def test_run_prints_the_id_and_show_draws_the_tree(applied: Cli, work: Work) -> None:
    started = applied("run", "welcome", "--set", "who.name=Ada")
    assert started.exit_code == 0, started.output
    run = started.stdout.strip()
    assert f"qwf show {run}" in started.stderr
    drawn = applied("show", run).stdout
    assert "○ think" in drawn
    assert "· say" in drawn
    assert "after think" in drawn
    work()
    assert f"qwf answer {run} pick '#1'  #1 is " in applied("show", run).stdout


def test_the_files_of_a_run_are_named(
    applied: Cli, work: Work, db: psycopg.Connection[Any], tmp_path: Path
) -> None:
    run = applied("run", "welcome", "--out-dir", str(tmp_path)).stdout.strip()
    assert "files" not in applied("show", run).stdout
    work()
    db.execute(
        """insert into qwf.run_files (job_id, file_no, rel_path, run_id, node_id, host, kind,
             size_bytes)
           select id, n, node_id || '/' || n, run_id, node_id, 'box-a', 'text', 1
           from qwf.jobs, generate_series(1, 3) n where node_idx < 2"""
    )
    nodes = [row[0] for row in db.execute("select node_id from qwf.jobs order by node_idx desc")]
    last, first = nodes[-2:]
    lines = applied("show", run).stdout.splitlines()
    folder = tmp_path / run
    assert lines[lines.index("files on box-a") :] == [
        "files on box-a", *(f"  {folder}/{last}/{n}" for n in (1, 2, 3)),
        f"  {folder}/{first}/1", f"  {folder}/{first}/2",
        "  and 1 more: qwf job JOB lists those of a job",
    ]  # fmt: skip


ASKED_MAIL = """
select qwf.register_pipeline('{"name": "mail", "nodes": [{"id": "send", "node": "send",
    "inputs": {"to": {"$from": "pipeline.to"}}}]}'),
  qwf.register_workflow('{"name": "mailed", "steps": [
    {"id": "ok", "kind": "input", "widget": "confirm", "prompt": "?", "target": "yes"},
    {"id": "mail", "kind": "pipeline", "pipeline": "mail", "depends_on": ["ok"],
      "inputs": {"to": {"$from": "to"}}, "skip_if": {"$from": "ok.yes", "$ne": true}}]}')
"""


def test_settings_go_into_the_context(applied: Cli, db: psycopg.Connection[Any]) -> None:
    words = ["--context", '{"a": 1, "who": {"age": 2}}', "--set", "who.name=Ada", "--set", "b=[1]"]
    applied("run", "welcome", *words)
    context = db.execute("select context from qwf.runs").fetchone()
    assert context == ({"a": 1, "who": {"age": 2, "name": "Ada"}, "b": [1]},)


def test_a_misspelt_key_of_the_context_is_noted(on_db: Cli, db: psycopg.Connection[Any]) -> None:
    """Other keys may be for people."""
    db.execute(
        """select qwf.register_workflow('{"name": "ask", "steps": [{"id": "q", "kind": "input",
          "widget": "json", "prompt": {"$coalesce": [{"$from": "photo.title"},
            {"$from": "photo.size.width", "$default": 1}, {"$from": "note.0", "$default": 1}]}}]}')
        """
    )
    for given, meant in [
        ("photo.titel", "photo.title"), ("phto.title", "photo"), ("photo.size.widht",
        "photo.size.width"), ("photo.title", ""), ("photo.size", ""), ("colour", ""),
    ]:  # fmt: skip
        result = on_db("run", "ask", "--set", f"{given}=1")
        assert result.exit_code == 0, result.output
        assert result.stdout.strip().isdigit()
        found = [line for line in result.stderr.splitlines() if "does not read" in line]
        assert [f"did you mean '{meant}'?" in line for line in found] == [True] * bool(meant), given


def test_a_missing_key_that_an_answer_may_make_needed_is_noted(
    on_db: Cli, db: psycopg.Connection[Any]
) -> None:
    db.execute(ASKED_MAIL)
    result = on_db("run", "mailed")
    assert result.exit_code == 0, result.output
    note = "note: the context has no 'to': mail needs it unless mail is skipped"
    assert note in result.stderr.splitlines()
    assert "has no 'to'" not in on_db("run", "mailed", "--set", "to=ada").stderr


def test_run_says_that_a_context_is_not_used(applied: Cli) -> None:
    words = ["run", "welcome", "--key", "k", "--set"]
    first = applied(*words, "who=Ada")
    again = applied(*words, "who=Ada")
    other = applied(*words, "who=Grace")
    assert first.stdout == again.stdout == other.stdout
    note = f"note: merged into run {first.stdout.strip()}, your context was not used"
    assert note not in again.stderr
    assert note in other.stderr.splitlines()


def test_options_of_run_reach_the_database(
    applied: Cli, db: psycopg.Connection[Any], tmp_path: Path
) -> None:
    words = ["--priority", "7", "--key", "k", "--out-dir", "out", "--project", "p", "--in", "2h"]
    words += ["--label", "a=b", "--label", "c=d"]
    first = applied("run", "welcome", *words).stdout
    assert applied("run", "welcome", *words).stdout == first
    row = db.execute(
        "select priority, key, out_dir, project, labels, run_at - created_at > '1 h' from qwf.runs"
    ).fetchall()
    assert row == [(7, "k", str(tmp_path / "out"), "p", {"a": "b", "c": "d"}, True)]


@pytest.mark.parametrize(
    ("value", "chosen"),
    [("#2", OPTIONS[1]), ("2", OPTIONS[1]), (json.dumps(OPTIONS[0]), OPTIONS[0])],
)
def test_answer_takes_a_number_an_id_or_json(
    applied: Cli, work: Work, value: str, chosen: Any
) -> None:
    run = applied("run", "welcome").stdout.strip()
    work()
    asked = applied("inputs").stdout
    assert "Which one?" in asked
    assert "#2 bye" in asked
    answered = applied("answer", run, "pick", value)
    assert answered.exit_code == 0, answered.output
    assert status(applied, run)["run"]["status"] == "completed"
    job = next(n["job_id"] for n in status(applied, run)["nodes"] if n["node_id"] == "pick")
    assert json.loads(applied("job", job, "--json").stdout)["job"]["output"] == {"choice": chosen}


def test_a_wrong_answer_says_what_is_possible(applied: Cli, work: Work) -> None:
    run = applied("run", "welcome").stdout.strip()
    work()
    for value in ("nonsense", "-5"):
        result = applied("answer", run, "pick", value)
        assert result.exit_code == 1
        assert "option" in result.stderr
    assert applied("answer", run, "pick", "#3").exit_code == 1
    assert applied("answer", run, "pick", "#1").exit_code == 0
    assert applied("answer", run, "pick", "#1").exit_code == 1


def test_watch_prints_a_line_for_each_change_and_exits_by_the_outcome(
    applied: Cli, work: Work, connect: Callable[[], psycopg.Connection[Any]]
) -> None:
    side = connect()

    def answer_when_asked() -> None:
        while True:
            work()
            row = side.execute("select run_id, spec from qwf.pending_inputs").fetchone()
            if row:
                choice = json.dumps(row[1]["source"][0])
                side.execute(
                    """insert into qwf.run_files (job_id, file_no, rel_path, run_id, kind,
                      size_bytes) select id, 1, 'a.txt', run_id, 'text', 1 from qwf.jobs limit 1"""
                )
                side.execute("select qwf.submit_input(%s, 'pick', %s)", (row[0], choice))
                return

    helper = threading.Thread(target=answer_when_asked, daemon=True)
    helper.start()
    result = applied("run", "welcome", "--watch")
    helper.join(30)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert any("greet/think  completed" in line for line in lines)
    assert lines[-3].endswith("completed")
    assert lines[-2] == "files on an unknown box"
    assert lines[-1].endswith("/a.txt")


def test_a_failed_run_exits_1_and_shows_why(applied: Cli, work: Work) -> None:
    run = applied("run", "welcome").stdout.strip()
    work("fatal", "Traceback\nValueError: no luck")
    assert applied("wait", "run", run).exit_code == 1
    drawn = applied("show", run).stdout
    assert "✗ think" in drawn
    assert "ValueError: no luck" in drawn
    job = status(applied, run)["nodes"][0]["job_id"]
    assert f"qwf job {job}" in drawn
    facts = applied("job", job).stdout
    assert "attempt 1" in facts
    assert "ValueError: no luck" in facts
    assert "think spoke" in facts
    assert "failed" in applied("runs", "--status", "failed").stdout
    assert run not in applied("runs", "--status", "completed").stdout


def test_a_cancelled_run_exits_2(applied: Cli) -> None:
    run = applied("run", "welcome").stdout.strip()
    assert applied("cancel", "run", run, "--reason", "enough").exit_code == 0
    assert applied("wait", "run", run).exit_code == 2
    assert status(applied, run)["run"]["status"] == "cancelled"


def test_cancel_of_several_is_all_or_nothing(applied: Cli) -> None:
    run = applied("run", "welcome").stdout.strip()
    assert applied("cancel", "run", run, "999").exit_code == 1
    assert status(applied, run)["run"]["status"] != "cancelled"


def test_wait_gives_up_after_its_time(applied: Cli) -> None:
    run = applied("run", "welcome").stdout.strip()
    assert applied("wait", "run", run, "--timeout", "0").exit_code == 124


def test_enqueue_prints_the_id_and_passes_everything_on(
    on_db: Cli, db: psycopg.Connection[Any]
) -> None:
    words = ["--queue", "cpu", "--priority", "3", "--key", "k", "--label", "a=b"]
    words += ["--max-attempts", "2", "--timeout", "2min"]
    result = on_db("enqueue", "send", "--args", '{"to": "Ada"}', *words)
    assert result.exit_code == 0, result.output
    row = db.execute(
        "select id, task, inputs, queue, priority, key, max_attempts, timeout::text, labels, status"
        " from qwf.job_details"
    ).fetchall()
    wanted = ("send", {"to": "Ada"}, "cpu", 3, "k", 2, "00:02:00", {"a": "b"}, "queued")
    assert row == [(int(result.stdout), *wanted)]


def test_enqueue_says_what_was_kept(on_db: Cli, db: psycopg.Connection[Any]) -> None:
    words = ["enqueue", "send", "--key", "k", "--in", "1h", "--timeout", "90s", "--set"]
    first = on_db(*words, "n=1")
    kept = on_db(*words, "n=2")
    assert kept.stdout == first.stdout
    note = f"note: merged into job {first.stdout.strip()}: it has the same key, and "
    assert note + "keeps its own arguments; it starts at " in kept.stderr
    replaced = on_db(*words, "n=3", "--key-mode", "replace")
    assert note + "has the new arguments; it starts at " in replaced.stderr
    as_json = on_db(*words, "n=4", "--json")
    answer = json.loads(as_json.stdout)
    run_at = db.execute("select run_at from qwf.jobs").fetchall()[0][0]
    assert datetime.fromisoformat(answer.pop("run_at")) == run_at
    assert answer == {"job_id": int(first.stdout), "merged": True, "kept": "old args"}
    row = db.execute(
        "select inputs, timeout::text, run_at > created_at from qwf.job_details"
    ).fetchall()
    assert row == [({"n": 3}, "00:01:30", True)]
    refused = on_db(*words, "n=5", "--key-mode", "refuse")
    assert refused.exit_code == 1
    assert "key is taken" in refused.stderr
    alone = json.loads(on_db("enqueue", "send", "--json").stdout)
    assert (alone["merged"], alone["kept"], alone["run_at"]) == (False, "new", None)


def test_enqueue_says_when_a_debounced_job_starts(on_db: Cli, db: psycopg.Connection[Any]) -> None:
    words = ["enqueue", "send", "--key", "k", "--key-mode", "replace", "--debounce", "10min"]
    first = on_db(*words)
    again = on_db(*words, "--debounce-max", "15min")
    ((run_at, start_by),) = db.execute("select run_at, start_by from qwf.job_details").fetchall()
    when = run_at.astimezone().strftime("%H:%M:%S")
    assert again.stdout == first.stdout
    assert f", and has the new arguments; it starts at {when}\n" in again.stderr
    assert start_by - run_at < timedelta(minutes=5.1)
    alone = on_db("enqueue", "send", "--debounce", "10min")
    assert alone.exit_code == 1
    assert "debounce: needs a key, and key_mode keep or replace" in alone.stderr


def test_enqueue_reads_arguments_from_a_file_and_from_stdin(
    on_db: Cli, db: psycopg.Connection[Any], tmp_path: Path
) -> None:
    (tmp_path / "args.json").write_text('{"n": 1}')
    on_db("enqueue", "t", "--args", "@args.json")
    on_db("enqueue", "t", "--args", "-", stdin='{"n": 2}')
    assert db.execute("select inputs from qwf.jobs order by id").fetchall() == [
        ({"n": 1},),
        ({"n": 2},),
    ]


def test_enqueue_at_a_time_is_scheduled(on_db: Cli, db: psycopg.Connection[Any]) -> None:
    on_db("enqueue", "t", "--at", "2999-01-31 06:00")
    assert db.execute("select status, extract(year from run_at)::int from qwf.jobs").fetchall() in (
        [("scheduled", 2999)],
    )


def test_enqueue_warns_if_no_worker_serves_the_queue(on_db: Cli) -> None:
    assert "no live worker" in on_db("enqueue", "t").stderr


def test_run_names_the_nodes_that_no_worker_can_take(
    applied: Cli, db: psycopg.Connection[Any]
) -> None:
    db.execute("select qwf.register_worker('box-a', 'cpu', '{\"tasks\": [\"thinks\"]}')")
    notes = [line for line in applied("run", "welcome").stderr.splitlines() if "note:" in line]
    assert notes == [
        "note: no live worker of queue cpu has task 'think', which node greet/think needs: "
        "did you mean 'thinks'?",
        "note: no live worker serves queue gpu, which node greet/say needs",
    ]
    db.execute("select qwf.register_worker('box-a', queue) from unnest('{cpu,gpu}'::text[]) queue")
    assert "note:" not in applied("run", "welcome").stderr
    db.execute("update qwf.workers set project = ''")
    said = applied("run", "welcome", "--project", "shop").stderr
    assert "no live worker serves queue gpu for project shop, which node greet/say needs" in said


def test_what_lacks_an_option_that_its_task_declares_is_noted_at_once(
    on_db: Cli, db: psycopg.Connection[Any]
) -> None:
    declared = {"timeout": "30 seconds", "requires": '{"a":"b"}'}
    info = json.dumps({"tasks": ["t"], "task_options": {"t": declared}})
    db.execute("select qwf.register_worker('box-a', 'default', %s)", (info,))
    said = on_db("enqueue", "t").stderr.splitlines()
    only = "in its code, which counts only for jobs from Python: give"
    assert said == [
        f'note: task \'t\' declares requires {{"a":"b"}} {only} --requires a=b, '
        'or requires => \'{"a":"b"}\' in SQL',
        f"note: task 't' declares timeout 30 seconds {only} --timeout '30 seconds', "
        "or timeout => '30 seconds' in SQL",
    ]
    assert on_db("enqueue", "t", "--timeout", "5s", "--requires", "c=d").stderr == ""
    said = on_db("schedule", "add", "s", "--task", "t", "--every", "1h").stderr.splitlines()
    assert [line.rpartition("give ")[2] for line in said] == [
        """--options '{"requires": {"a":"b"}}'""",
        """--options '{"timeout": "30 seconds"}'""",
    ]


def test_jobs_of_a_run_come_in_order(applied: Cli) -> None:
    run = applied("run", "welcome").stdout.strip()
    applied("enqueue", "alone", "--queue", "cpu")
    found = json.loads(applied("jobs", "--json", "--run", run).stdout)
    assert [job["task"] for job in found] == ["think", "say", "input"]


def test_runs_filters(applied: Cli) -> None:
    run = int(applied("run", "welcome", "--project", "shop").stdout)
    runs = lambda *words: [r["id"] for r in json.loads(applied("runs", "--json", *words).stdout)]  # noqa: E731
    assert runs("--project", "shop", "--workflow", "welcome", "--since", "1h") == [run]
    assert runs("--project", "other") == []
    refused = applied("runs", "--workflow", "other")
    assert refused.exit_code == 2
    assert "there is no workflow 'other'; there are: welcome" in refused.stderr


def test_tick_prints_what_it_did(on_db: Cli) -> None:
    assert "next_due_s" in json.loads(on_db("tick", "--json").stdout)


def test_empty_lists_say_what_to_do(on_db: Cli) -> None:
    assert "qwf run NAME" in on_db("runs").stdout
    assert on_db("runs", "--json").stdout.strip() == "[]"
    assert "no open questions" in on_db("inputs").stdout
    assert "no jobs match" in on_db("jobs").stdout


def test_a_signal_is_sent_and_what_is_waited_for_is_listed(on_db: Cli, db: Db) -> None:
    """The terminal says how many steps went on, and what a run waits for."""
    db.execute(
        'select qwf.register_workflow(\'{"name": "order", "steps": [{"id": "paid", "kind":'
        ' "input", "signal": ["paid", {"$from": "n"}], "schema": {"type": "object"}}]}\')'
    )
    db.execute("select qwf.enqueue_run('order', '{\"n\": 1}')")
    shown = on_db("show", "1").stdout
    assert "waits for paid:1" in shown
    assert "qwf signal paid:1 PAYLOAD" in shown
    assert "0 steps" not in on_db("signal", "paid:1", "no object").stdout
    listed = on_db("inputs", "--signals").stdout
    assert "waits, the last one did not fit" in listed
    assert "kept" in listed
    assert "no open questions" in on_db("inputs").stdout
    assert "1 step is answered" in on_db("signal", "paid:1", '{"a": 1}').stdout
    assert "completed" in on_db("show", "1").stdout
    kept = on_db("signal", "late", "5", "--keep-for", "10 s")
    assert kept.exit_code != 0
    assert "1 minute to 366 days" in kept.stderr


def test_runs_of_steps_are_shown_with_the_run_above(
    on_db: Cli, db: psycopg.Connection[Any], tmp_path: Path
) -> None:
    """The files are registered in the order in which they need each other."""
    album = {"id": "each", "kind": "workflow", "workflow": "one", "map": [1, 2]}
    (tmp_path / "album.json").write_text(json.dumps({"name": "album", "steps": [album]}))
    one = {"name": "one", "steps": [{"id": "crop", "node": "crop"}]}
    (tmp_path / "one.json").write_text(json.dumps(one))
    assert on_db("apply", str(tmp_path)).exit_code == 0
    run = int(on_db("run", "album").stdout)
    listed = json.loads(on_db("runs", "--parent", str(run), "--json").stdout)
    first, second = sorted(row["id"] for row in listed)
    drawn = on_db("show", str(run)).stdout
    assert f"run {first} [0]  ○ queued" in drawn
    assert f"run {second} [1]  ○ queued" in drawn
    assert f"part of run {run}, each[0]" in on_db("show", str(first)).stdout
    shown = [row["id"] for row in json.loads(on_db("runs", "--json").stdout)]
    assert shown == [run]
    every = [row["id"] for row in json.loads(on_db("runs", "--all", "--json").stdout)]
    assert sorted(every) == [run, first, second]


def test_a_run_waits_in_line_for_its_limit(on_db: Cli, db: psycopg.Connection[Any]) -> None:
    one = {"name": "one", "steps": [{"id": "crop", "node": "crop"}]}
    db.execute("select qwf.register_workflow(%s), qwf.create_limit('etl', 1)", [json.dumps(one)])
    runs = [
        on_db("run", "one", "--limit", "etl", "--max-attempts", "2", "--backoff", "[1]").stdout
        for _ in range(2)
    ]
    nodes = [len(status(on_db, run.strip())["nodes"]) for run in runs]
    assert nodes == [1, 0]


@pytest.mark.parametrize(
    "words",
    [
        ["jobs", "--status", "failed", "state:queued"],
        ["jobs", "--since", "1h", "since:2h"],
        ["jobs", "--run", "1", "run:2"],
        ["runs", "--workflow", "w", "workflow:v"],
    ],
)
def test_a_query_and_an_option_that_say_the_same_are_refused(
    on_db: Cli, db: Db, words: list[str]
) -> None:
    db.execute("""select qwf.register_workflow('{"name": "w", "steps": []}')""")
    result = on_db(*words)
    assert (result.exit_code, "in the query and in an option" in result.stderr) == (2, True)


def test_show_says_how_long_it_usually_takes(on_db: Cli, db: Db) -> None:
    """Beside what a run and its nodes took stands the usual time, once one is known."""
    steps = [{"id": "go", "node": "go", "queue": "cpu"}]
    db.execute("select qwf.register_workflow(%s)", [json.dumps({"name": "w", "steps": steps})])
    for _ in range(2):
        db.execute("select qwf.enqueue_run('w')")
        assert "usually" not in on_db("show", "1").stdout
        db.execute("select qwf.finish(job_id, token, 'completed') from qwf.claim('cpu', 'box', 1)")
    db.execute("select _qwf.number_events()")
    db.execute("select _qwf.learn_runs()")
    run, node, *_ = on_db("show", "1").stdout.splitlines()
    assert re.search(r"1 of 1 nodes .* m?s, usually .* m?s", run), run
    assert re.search(r"go .*completed .* m?s, usually .* m?s", node), node
