"""Where a person's data can be, and that `qwf.erase` reaches all of it."""

from __future__ import annotations

import subprocess
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from support.planted_bugs import put_in
from support.servers import Server

Db = psycopg.Connection[Any]
HER = "anna-5f1c"
PERSON = '{"label": {"person": "42"}}'
PLACES = "select place, part from _qwf.personal_places() order by place"
TEXTS = """
    select n.nspname || '.' || c.relname || '.' || a.attname
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    cross join (select '{text,jsonb,json,varchar,bytea,text[],jsonb[]}'::regtype[]) k (kinds)
    where n.nspname in ('qwf', '_qwf') and c.relkind in ('r', 'p')
      and (a.atttypid = any (k.kinds) or exists (
        select from pg_catalog.pg_type t join pg_catalog.pg_attribute p on p.attrelid = t.typrelid
        where t.oid = a.atttypid and p.atttypid = any (k.kinds)))"""

# Reasons why columns are not erased, and the columns: a table, and what its columns have in common.
CODE = "a name that the program, its definitions or an administrator gives"
LIVE = "only jobs and runs that have not ended have it, and those are not erased"
WHO = "who acted, as the database proves it"
BOX = "the name of a box, a worker, a model or a card, or what it reports about itself"
ADMIN = "an administrator writes it, and no job or person comes with it"
ENGINE = "one of few words or numbers that only the engine writes"
UNTOUCHED = "schedules are not touched: what an administrator has set up runs, or is refused, again"
EXCEPTIONS: dict[str, tuple[str, ...]] = {
    CODE: (
        "qwf.jobs: queue task project node_id schedule required_model requires",
        "qwf.runs: workflow project schedule",
        "qwf.input_answers: node_id",
        "qwf.run_files: node_id",
        "qwf.pipelines: name definition workflow_names digest",
        "qwf.workflows: name definition pipeline_names workflow_names digest",
        "qwf.graphs: context_checks inputs outputs",
        "qwf.graph_nodes: node_id step_id pipeline workflow task queue inputs skip_if input_spec"
        " ref_files required_model requires limit_by on_failure run_if map min_success"
        " repeat delay compensates options",
        "qwf.limits: name",
        "qwf.signals: project",
        "qwf.failure_marks: task",
        "qwf.held_tasks: queue task",
        "qwf.limit_slots: limit_name",
        "qwf.limit_starts: limit_name",
        "qwf.queues: name placement on_failure",
        "qwf.attempt_counts: queue task outcome",
        "qwf.hourly_counts: queue task outcome",
        "qwf.attempt_totals: queue task outcome",
        "qwf.queue_minutes: queue",
        "_qwf.event_log: subject names",
        "qwf.alerts: name notify",
        "qwf.open_alerts: rule",
        "qwf.alert_messages: rule receiver",
    ),
    LIVE: ("qwf.waits: project name", "qwf.runs: then_retry"),
    WHO: (
        "qwf.jobs: login",
        "qwf.runs: login",
        "qwf.input_answers: login",
        "qwf.limit_holds: login",
        "qwf.signals: login",
        "qwf.alerts: login acting_for",
        "qwf.failure_marks: login acting_for",
        "qwf.cancel_requests: login",
        "_qwf.event_log: login",
        "qwf.model_requests: login acting_for",
        "qwf.worker_controls: login requested_by",
    ),
    BOX: (
        "qwf.jobs: claimed_by avoid_host",
        "qwf.job_attempts: worker",
        "qwf.live_logs: worker",
        "qwf.run_files: host",
        "qwf.workers: id host queue version tasks models current_model labels project out_root"
        " servers cards task_options held_tasks stats",
        "qwf.held_tasks: hosts",
        "qwf.sleepers: worker queue",
        "qwf.host_metrics: host gpus",
        "qwf.host_minutes: host gpus",
        "qwf.model_requests: host queue model action taken_by progress error",
        "qwf.worker_controls: host_label queue server",
    ),
    ADMIN: (
        "qwf.settings: error_backoff transient_backoff secret_keys",
        "qwf.worker_controls: reason",
        "qwf.alerts: rule kinds",
        "qwf.queues: expect",
    ),
    ENGINE: (
        "qwf.jobs: on_failure run_if options erased_parts",
        "qwf.firings: outcome reason result",
        "qwf.job_attempts: outcome",
        "qwf.alerts: last_error",
        "qwf.open_alerts: kind",
        "qwf.alert_messages: id state",
        "qwf.run_files: kind",
        "qwf.outbox: kind",
        "qwf.waits: kind",
        "qwf.worker_controls: desired_state stop_policy",
        "_qwf.event_log: kind",
        "_qwf.event_totals: kind",
        "_qwf.run_totals: workflow status",
        "_qwf.event_numbers: timeline",
        "_qwf.locks: name",
        "_qwf.open_states: kind subject names",
        "qwf.usual_times: kind name node last_status last",
        "_qwf.floors: queue",
        "_qwf.rests: part",
    ),
    UNTOUCHED: (
        "qwf.schedules: name task workflow cron timezone args queue project catch_up overlap"
        " options expect backfill_of last_error",
        "qwf.firings: schedule backfill_of error",
    ),
}


def excepted() -> list[str]:
    lines = [line.split(": ") for lines in EXCEPTIONS.values() for line in lines]
    return [f"{table}.{column}" for table, columns in lines for column in columns.split()]


def test_every_text_is_erased_or_has_a_reason(db: Db) -> None:
    """A new column of text or JSON belongs in _personal_places.sql, or above with its reason."""
    listed = [place for place, _ in db.execute(PLACES)] + excepted()
    assert sorted(listed) == sorted(place for (place,) in db.execute(TEXTS))


def everywhere(db: Db) -> None:
    """Anna's text in every place, of a run and of a job that have ended."""
    db.execute("select qwf.create_limit('mail', 2, 2, '1 day', keyed => true)")
    db.execute(
        "select qwf.enqueue('t', labels => '{\"person\": \"42\"}', limit_by => %s, key => 'k')",
        (f"mail:{HER}",),
    )
    db.execute(
        "select qwf.hold_limit('mail', now() + interval '1 day', split_part(limit_by, ':', 2))"
        " from qwf.jobs where limit_place is not null limit 1"
    )
    db.execute("update qwf.limit_holds set until = now() - interval '1 s'")
    db.execute(
        "select qwf.finish(job_id, token, 'fatal', null, 'no') from qwf.claim('default', 'w', 1)"
    )
    db.execute(
        'select qwf.register_workflow(\'{"name": "w", "steps": [{"id": "ask",'
        ' "kind": "input", "widget": "text", "target": "name"}]}\')'
    )
    db.execute("select qwf.enqueue_run('w', labels => '{\"person\": \"42\"}')")
    db.execute("select qwf.submit_input(id, 'ask', '\"x\"') from qwf.runs")
    db.execute(
        "insert into qwf.run_files (job_id, file_no, rel_path, run_id, host, kind, size_bytes)"
        " select id, 1, 'x', run_id, 'box', 'file', 1 from qwf.jobs"
    )
    db.execute(
        "insert into qwf.live_logs (job_id, worker, followed_until)"
        " select id, 'w', now() from qwf.jobs"
    )
    db.execute("insert into qwf.cancel_requests (job_id) select id from qwf.jobs")
    db.execute(
        "insert into qwf.signals (project, name, payload, sent_at, keep_until)"
        " values ('', 'x', '{}', now(), now() + interval '1 day')"
    )
    db.execute(
        "insert into qwf.checkpoints (job_id, attempt, value, at)"
        " select id, 1, '{}', now() from qwf.jobs where task = 't'"
    )
    db.execute(
        "insert into qwf.job_progress (job_id, attempt, message, at)"
        " select id, 1, 'x', now() from qwf.jobs where task = 't'"
    )
    db.execute(
        "insert into qwf.attempt_series (job_id, attempt, at, series, left_out)"
        " select id, 1, now(), '{}', 0 from qwf.jobs where task = 't'"
    )
    db.execute("select qwf.mark_failures('t', 'no', note => 'she called')")
    db.execute("insert into qwf.outbox (run_id, kind) select id, 'stop' from qwf.runs")
    db.execute(
        "insert into qwf.open_alerts (rule, key, kind, first_at, last_at, first_seq, last_seq,"
        " run_id, job_id, closed_at)"
        " select id::text, '', 'lost', now(), now(), 0, 0, run_id, id, now() from qwf.jobs"
    )
    db.execute(
        "insert into qwf.alert_messages (id, rule, state, run_id, job_id, sent_job, created_at)"
        " select id::text, 'r', 'open', run_id, id, id, now() from qwf.jobs"
    )
    for (place, _), value in ((found, HER) for found in db.execute(PLACES).fetchall()):
        schema, table, column = place.split(".")
        if place in ("qwf.limit_keys.name", "qwf.limit_holds.name", "qwf.jobs.limit_by"):
            continue  # written by the claim
        if column == "labels":
            continue  # below: they are what she is found by
        kind = db.execute(
            "select atttypid = 'jsonb'::regtype from pg_attribute"
            " where attrelid = %s::regclass and attname = %s",
            (f"{schema}.{table}", column),
        ).fetchone()
        assert kind is not None
        ours = "job_id is not null or run_id is not null" if table == "event_log" else "true"
        change = sql.SQL("update {} set {} = %s where {}").format(
            sql.Identifier(schema, table), sql.Identifier(column), sql.SQL(ours)
        )
        db.execute(change, (Jsonb({"x": {"y": value}}) if kind[0] else value,))
    db.execute(
        "update qwf.jobs set input_spec = input_spec || jsonb_build_object('signal', %s::text)",
        (HER,),
    )
    db.execute("update qwf.jobs set labels = labels || jsonb_build_object('x', %s::text)", (HER,))
    db.execute("update qwf.runs set labels = labels || jsonb_build_object('x', %s::text)", (HER,))


def places_with(db: Db) -> set[str]:
    found = set()
    for place, _ in db.execute(PLACES).fetchall():
        schema, table, column = place.split(".")
        look = sql.SQL("select count(*) from {} where {}::text like %s").format(
            sql.Identifier(schema, table), sql.Identifier(column)
        )
        ((count,),) = db.execute(look, (f"%{HER}%",)).fetchall()
        found |= {place} if count else set()
    return found


def dumped(server: Server, db: Db) -> str:
    """All rows, as pg_dump writes them."""
    if server.cluster is None:
        pytest.skip("pg_dump must match the server, and QWF_TEST_DSN names another one")
    tool = server.cluster.bin / "pg_dump"
    command = [str(tool), "-a", "-d", server.dsn(db.info.dbname)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_each_listed_place_is_erased(db: Db) -> None:
    everywhere(db)
    listed = db.execute(PLACES).fetchall()
    assert places_with(db) == {place for place, _ in listed}
    parts = sorted({part for _, part in listed} - {"acting_for"})
    for part in [*parts, "acting_for"]:
        db.execute('select qwf.erase(\'{"task": "t"}\', %s)', ([part],))
        db.execute('select qwf.erase(\'{"node": "ask"}\', %s)', ([part],))
        gone = {place for place, of in listed if of == part}
        assert not places_with(db) & gone, part
    assert not places_with(db)


def test_a_dump_has_nothing_of_her(db: Db, server: Server) -> None:
    everywhere(db)
    assert dumped(server, db).count(HER) > 20
    files = db.execute("select job_id, host, path from qwf.erase(%s)", (PERSON,)).fetchall()
    assert [(host, path.rsplit("/", 1)[1]) for _, host, path in files] == [("box", HER)] * 2
    db.execute("select qwf.erase('{\"task\": \"t\"}', '{acting_for}')")
    db.execute("select qwf.erase('{\"node\": \"ask\"}', '{acting_for}')")
    lines = [line for line in dumped(server, db).splitlines() if HER in line]
    assert lines == []
    wrong = db.execute("select * from qwf.check_invariants()").fetchall()
    assert [row for row in wrong if "outbox" not in str(row)] == []


BUGS = [
    ("_qwf.erase_history", "log_tail = case when v_logs", "log_tail = case when false"),
    ("_qwf.erase_jobs", "_qwf.erased('questions' = any (p_parts)", "_qwf.erased(false"),
    ("_qwf.erase_events", "where e.run_id = any", "where false and e.run_id = any"),
]


@pytest.mark.parametrize("bug", BUGS, ids=[function for function, _, _ in BUGS])
def test_a_planted_bug_is_found(
    db: Db, dsn: str, server: Server, bug: tuple[str, str, str]
) -> None:
    put_in(dsn, *bug)
    with pytest.raises(AssertionError):
        test_a_dump_has_nothing_of_her(db, server)


def test_what_a_person_leaves_by_working_is_erased(db: Db, server: Server) -> None:
    """Her text in all that users, workers and people who answer can give."""
    her = Jsonb({"name": HER, "list": [{"of": HER}]})
    rule = {"when": ["job_failed"], "by": "label.name", "do": {"receiver": "ops"}}
    db.execute("select qwf.set_alert('r', %s)", (Jsonb(rule),))
    label = Jsonb({"person": "42", "name": HER})
    db.execute("select qwf.create_limit('mail', 2, 2, '1 day', keyed => true)")
    db.execute(
        "select qwf.enqueue('t', %s, key => %s, once => true, labels => %s, limit_by => %s)",
        (her, HER, label, f"mail:{HER}"),
    )
    report = Jsonb({
        "log_tail": f"hello {HER}", "reason": HER, "exit_code": 3, "host": "box",
        "files": [{"rel_path": f"{HER}.png", "size_bytes": 1, "kind": "image"}], "unknown": HER,
    })  # fmt: skip
    end = "select qwf.finish(job_id, token, %s, %s, %s, %s) from qwf.claim('default', 'box:w', 1)"
    db.execute(end, ("fatal", None, f"no {HER}", report))
    db.execute("select qwf.retry_job(id, %s) from qwf.jobs", (Jsonb({"new": HER}),))
    db.execute("select qwf.change_job(id, limit_by => 'mail:nobody') from qwf.jobs")
    db.execute(end, ("fatal", None, f"no {HER}", report))
    db.execute(
        "select qwf.register_pipeline(%s)",
        (Jsonb({"name": "p", "nodes": [
            {"id": "greet", "node": "greet", "queue": "default",
             "inputs": {"who": {"$from": "who"}}}]}),),
    )  # fmt: skip
    db.execute(
        "select qwf.register_workflow(%s)",
        (Jsonb({"name": "w", "steps": [
            {"id": "p", "kind": "pipeline", "pipeline": "p"},
            {"id": "ask", "kind": "input", "widget": "text", "target": "name",
             "show": {"$from": "who"}, "depends_on": ["p"]},
        ]}),),
    )  # fmt: skip
    db.execute(
        "select qwf.enqueue_run('w', %s, key => %s, labels => %s)",
        (Jsonb({"who": HER}), HER, label),
    )
    db.execute(end, ("completed", her, None, report))
    db.execute("select qwf.drain_outbox()")
    db.execute("select qwf.tick()")
    db.execute("select qwf.submit_input(id, 'ask', to_jsonb(%s::text)) from qwf.runs", (HER,))
    db.execute("select qwf.tick()")
    assert db.execute("select status from qwf.runs").fetchall() == [("completed",)]
    assert db.execute("select name from qwf.limit_keys order by 1").fetchall() == [
        (f"mail:{HER}",), ("mail:nobody",)]  # fmt: skip
    assert dumped(server, db).count(HER) > 15
    files = db.execute("select path from qwf.erase(%s)", (PERSON,)).fetchall()
    assert len([path for (path,) in files if path and path.endswith(f"{HER}.png")]) == 2
    db.execute("select qwf.tick()")
    assert [line for line in dumped(server, db).splitlines() if HER in line] == []
    assert db.execute("select * from qwf.check_invariants()").fetchall() == []
    kept = "select array_agg(outcome order by job_id, attempt) from qwf.job_attempts"
    assert db.execute(kept).fetchone() == (["fatal", "fatal", "completed"],)


STEPS: list[dict[str, Any]] = [
    {"id": "a", "node": "a", "queue": "default", "inputs": {"who": {"$from": "who"}},
     "retry": {"max_attempts": 2, "backoff": [0]}},
    {"id": "m", "node": "m", "queue": "default", "map": {"$from": "list"},
     "inputs": {"i": {"$from": "item"}}, "depends_on": ["a"]},
    {"id": "turns", "node": "turn", "queue": "default", "depends_on": ["a"],
     "repeat": {"until": {"$from": "item.done"}, "max": 3}, "inputs": {"l": {"$from": "item"}}},
    {"id": "sub", "kind": "workflow", "workflow": "inner", "inputs": {"x": {"$from": "who"}},
     "depends_on": ["a"]},
    {"id": "paid", "kind": "input", "signal": ["paid", {"$from": "who"}], "target": "p",
     "depends_on": ["a"]},
    {"id": "ask", "kind": "input", "widget": "text", "prompt": {"$from": "prompt"}, "target": "t",
     "depends_on": ["a"]},
    {"id": "fail", "node": "fail", "queue": "default", "inputs": {"t": {"$from": "ask.t"}},
     "depends_on": ["ask", "paid", "m", "turns", "sub"]},
]  # fmt: skip
INNER = {"name": "inner", "steps": [
    {"id": "i", "node": "i", "queue": "default", "inputs": {"x": {"$from": "x"}}}],
    "outputs": {"o": {"$from": "i.o"}}}  # fmt: skip


def work(db: Db, rounds: int = 8) -> None:
    """Ticks and attempts that report her text in everything that a worker can send."""
    for _ in range(rounds):
        db.execute("select qwf.tick()")
        claimed = db.execute(
            "select c.job_id, c.token, c.task, c.attempt"
            " from qwf.workers w, qwf.claim(w.queue, w.id, 20) c"
        ).fetchall()
        for job, token, task, attempt in claimed:
            its = (job, token)
            if task in ("qwf.send", "told"):
                db.execute("select qwf.finish(%s, %s, 'completed')", its)
                continue
            series = {"names": {HER: {"points": [[1, 0.9]], "reported": 1}}, "left_out": 0}
            db.execute(
                "select qwf.progress(%s, %s, 0.5, %s, %s, %s)",
                (*its, HER, Jsonb({"who": HER}), Jsonb(series)),
            )
            db.execute("select qwf.follow_log(%s)", (job,))
            db.execute("select qwf.report_log(%s, %s, 20, %s, 10, %s, false)", (*its, HER, HER))
            db.execute(
                "select qwf.report_event(%s, %s, 'folder_moved', %s)",
                (*its, Jsonb({"moved": HER, "to": HER})),
            )
            bad = task in ("fail", "solo") or (task == "a" and attempt == 1)
            detail = {"log_tail": HER, "reason": HER, "usage": {HER: 1},
                      "files": [{"rel_path": HER, "kind": "image", "size_bytes": 3}]}  # fmt: skip
            db.execute(
                "select qwf.finish(%s, %s, %s, %s, %s, %s)",
                (*its, "error" if bad else "completed", Jsonb({"o": HER, "done": True}),
                 f"no {HER}" if bad else None, Jsonb(detail)),
            )  # fmt: skip


def answer(db: Db) -> None:
    for job, widget in db.execute(
        "select job_id, question ->> 'widget' from qwf.open_questions('')"
    ).fetchall():
        given = HER if widget == "text" else "abort"
        db.execute("select qwf.answer_job(%s, %s, acting_for => %s)", (job, Jsonb(given), HER))


def test_what_came_through_any_door_is_erased(db: Db, server: Server) -> None:
    """Signals that an earlier try took, children, turns, alerts and what they start, streams,
    series, checkpoints, marks of failures, changes, reasons: nothing of her is left."""
    for name, rule in {
        "fails": {"when": ["job_failed", "run_ended"], "do": {"receiver": "ops"}},
        "label": {"when": ["job_failed", "run_ended"], "by": "label.mail",
                  "do": {"task": "told", "queue": "default"}},
    }.items():  # fmt: skip
        db.execute("select qwf.set_alert(%s, %s)", (name, Jsonb(rule)))
    labels = '{"labels": {"receiver.ops": "true", "receiver.ada": "true"}}'
    for queue in ("default", "qwf.alerts"):
        db.execute("select qwf.register_worker('box', %s, %s)", (queue, labels))
    db.execute("select qwf.create_limit('mail', 5, keyed => true, starts => 50, per => '1 day')")
    db.execute("select qwf.register_workflow(%s)", (Jsonb(INNER),))
    db.execute("select qwf.register_workflow(%s)", (Jsonb({"name": "w", "steps": STEPS}),))
    label = Jsonb({"person": "42", "mail": HER})
    db.execute("select qwf.signal(%s, %s)", (f"paid:{HER}", Jsonb({"s": HER})))
    context = {"who": HER, "list": [HER], "prompt": f"{HER}?"}
    ((run,),) = db.execute(
        "select qwf.enqueue_run('w', %s, key => %s, labels => %s, notify => 'ada', out_dir => %s)",
        (Jsonb(context), HER, label, f"/out/{HER}"),
    ).fetchall()
    enqueue = "select qwf.enqueue('solo', %s, labels => %s, max_attempts => 1, on_failure => %s)"
    ((solo,),) = db.execute(enqueue, (Jsonb({"who": HER}), label, None)).fetchall()
    db.execute(enqueue, (Jsonb({"who": HER}), label, "ask"))
    ((moved,),) = db.execute(
        "select qwf.enqueue('t', %s, labels => %s, limit_by => %s,"
        " run_at => qwf.now() + interval '1 day')",
        (Jsonb({"who": HER}), label, f"mail:{HER} old"),
    ).fetchall()
    db.execute("select qwf.change_job(%s, limit_by => %s)", (moved, f"mail:{HER} new"))
    db.execute("select qwf.cancel_job(%s, %s)", (moved, HER))
    work(db)
    answer(db)
    work(db)
    db.execute("select qwf.retry_job(%s, %s)", (solo, Jsonb({"who": HER})))
    work(db)
    again = {"who": f"{HER} now", "extra": HER}
    db.execute("select qwf.retry_run(%s, context => %s)", (run, Jsonb(again)))
    work(db)
    answer(db)
    db.execute("select qwf.signal(%s, %s)", (f"paid:{HER} now", Jsonb({"s": HER})))
    for task, signature in db.execute(
        "select task, signature from qwf.failure_groups()"
    ).fetchall():
        db.execute("select qwf.mark_failures(%s, %s, seen => true, note => %s)",
                   (task, signature, HER))  # fmt: skip
    work(db, 12)
    left = db.execute("select id, task, status from qwf.jobs where finished_at is null").fetchall()
    assert left == []
    assert db.execute("select status from qwf.runs where id = %s", (run,)).fetchone() == ("failed",)
    assert dumped(server, db).count(HER) > 40
    parts = [part for (part,) in db.execute("select distinct part from _qwf.personal_places()")]
    for _ in range(3):
        db.execute("select qwf.erase(%s, %s)", (PERSON, parts))
        work(db, 2)
    db.execute('select qwf.erase(\'{"task": "told"}\')')
    assert [line for line in dumped(server, db).splitlines() if HER in line] == []
    assert db.execute("select * from qwf.check_invariants()").fetchall() == []
