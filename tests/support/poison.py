"""Values that have ended programs which read them: for tests of commands that read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from typing_extensions import LiteralString

Db = psycopg.Connection[Any]

CONTROLS = "".join(map(chr, [*range(1, 32), 127, *range(128, 160)]))
UNSEEN = "\u200b\u200c\u200d\u200e\u200f\u061c\u2028\u2029\u202e\u2066\u00ad\u2060\ufeff\U000e0041"
COMMANDS_OF_TERMINALS = (
    "\x1b[2J\x1b]52;c;ZXZpbA==\x07\x1b]0;owned\x07\x9b31m[/red][@click=app.quit]"
)
STRANGE = COMMANDS_OF_TERMINALS + UNSEEN + CONTROLS + "\\u0000 \\ud800 %s {}"
LONG = "x" * 500_000

JSON = {
    "strange": json.dumps({"a": STRANGE, STRANGE: 1}),
    "long numbers": '{"n": 1e6000, "m": -1e6000, "tiny": 1e-6000, "half": 1%s.5}' % ("0" * 400),
    "deep lists": f'{{"x": {"[" * 1500}{"]" * 1500}}}',
    "deep objects": '{"id":' * 1500 + "1" + "}" * 1500,
    "deep labels": '{"id":1,"label":' * 1500 + "1" + "}" * 1500,
    "long text": json.dumps({"x": LONG}),
    "brackets in texts": json.dumps({"x": '[[{"\\"' * 300}),
}
TIMES = ["infinity", "-infinity", "9999-12-31 23:59:59+00", "10999-01-01", "4000-01-01 BC"]


def fill(db: Db) -> None:
    """Put such values wherever a producer, a worker or an older engine could have left them."""
    worker = one(db, "select qwf.register_worker('box-a', 'default', '{}')")
    question = {
        "id": "ask",
        "kind": "input",
        "widget": "choose_one",
        "source": {"$from": "options"},
    }
    one(db, "select qwf.register_workflow(%s)", Jsonb({"name": "w", "steps": [question]}))
    for number, text in enumerate(JSON.values(), start=1):
        one(db, "select qwf.enqueue_run('w', %s)", Jsonb({"options": [number]}))
        job = one(db, "select qwf.enqueue('t')")
        finish = (
            "select qwf.finish(job_id, token, 'error', '1', 'x') from qwf.claim('default', %s, 1)"
        )
        one(db, finish, worker)
        db.execute(
            "update qwf.jobs set task = %(strange)s, last_error = %(strange)s::text || %(text)s,"
            " inputs = %(text)s::jsonb, output = %(text)s::jsonb,"
            " labels = jsonb_build_object(%(strange)s::text, 1),"
            " progress_message = %(strange)s, project = %(strange)s where id = %(job)s",
            {"text": text, "strange": STRANGE, "job": job},
        )
        db.execute(
            "update qwf.job_attempts"
            " set error = %(strange)s::text || %(text)s, reason = %(strange)s,"
            " log_tail = %(strange)s where job_id = %(job)s",
            {"text": text, "strange": STRANGE, "job": job},
        )
        db.execute(
            "insert into qwf.job_events (at, job_id, type, actor, detail)"
            " values (%(when)s, %(job)s, 'changed', %(strange)s,"
            "  jsonb_build_object('x', %(text)s::jsonb))",
            {"when": TIMES[number % len(TIMES)], "text": text, "strange": STRANGE, "job": job},
        )
        db.execute(
            "update qwf.jobs set input_spec = input_spec || jsonb_build_object("
            "  'source', jsonb_build_array(%(text)s::jsonb), 'prompt', %(strange)s::text)"
            " where input_spec is not null and run_id = (select max(id) from qwf.runs)",
            {"text": text, "strange": STRANGE},
        )
        db.execute(
            "update qwf.runs set error = %s, labels = jsonb_build_object('x', %s::jsonb)"
            " where id = (select max(id) from qwf.runs)", (STRANGE, text),
        )  # fmt: skip
    for when in TIMES:
        waiting = one(db, "select qwf.enqueue('later', run_at => now() + interval '1 day')")
        db.execute(
            "update qwf.jobs set run_at = %(when)s, expires_at = %(when)s, created_at = %(when)s"
            " where id = %(job)s",
            {"when": when, "job": waiting},
        )
    db.execute("update qwf.jobs set timeout = make_interval(months => 71000000) where id = 1")
    one(db, "select qwf.create_schedule('nightly', task => 't', every => '1 day')")
    db.execute("update qwf.schedules set next_at = '10999-01-01', last_error = %s", (STRANGE,))
    cards = [None, 1, [], {}, {"id": STRANGE, "use_pct": STRANGE, "vram_total_mb": 0},
             {"use_pct": 10**400, "vram_used_mb": 10**400, "vram_total_mb": 3}]  # fmt: skip
    one(db, "select qwf.report_metrics('box-a', %s)", Jsonb({"gpus": cards, "cpu_percent": 43}))
    one(db, "select qwf.worker_control('box-a', 'default', 'off', reason => %s)", STRANGE)


def one(db: Db, query: LiteralString, *parameters: Any) -> Any:
    """The value that a query returns."""
    (row,) = db.execute(query, parameters).fetchall()
    return row[0]
