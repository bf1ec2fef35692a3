"""Values that have ended programs which read them: for tests of commands that read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
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
MARKUP = (
    "<script>window.pwned=1</script>\"><img src=x onerror=window.pwned=2>'><svg onload=pwned=3>"
    '<a href="javascript:window.pwned=4">a</a> javascript:window.pwned=5 {{7*7}} {%% if %%}'
    "<b hx-get=/do/tick hx-trigger=load hx-on:load=window.pwned=6>b</b><!--/live--></pre>"
    "</textarea></title>\u202eevil"
).replace("%%", "%")

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
            " project = %(strange)s where id = %(job)s",
            {"text": text, "strange": STRANGE, "job": job},
        )
        db.execute(
            "insert into qwf.job_progress select id, attempt, 0.5, %s, now() from qwf.jobs"
            " where id = %s", (STRANGE, job),
        )  # fmt: skip
        db.execute(
            "update qwf.job_attempts"
            " set error = %(strange)s::text || %(text)s,"
            " detail = jsonb_build_object('reason', %(strange)s::text),"
            " log_tail = %(strange)s where job_id = %(job)s",
            {"text": text, "strange": STRANGE, "job": job},
        )
        db.execute(
            "insert into _qwf.event_log (at, job_id, kind, acting_for, detail)"
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
    _servers(db)
    for when in TIMES:
        waiting = one(db, "select qwf.enqueue('later', run_at => now() + interval '1 day')")
        db.execute(
            "update qwf.jobs set run_at = %(when)s, expires_at = %(when)s, created_at = %(when)s"
            " where id = %(job)s",
            {"when": when, "job": waiting},
        )
    db.execute(
        "update qwf.jobs set options.timeout = make_interval(months => 71000000) where id = 1"
    )
    one(db, "select qwf.create_schedule('nightly', task => 't', every => '1 day')")
    db.execute("update qwf.schedules set next_at = '10999-01-01', last_error = %s", (STRANGE,))
    cards = [None, 1, [], {}, {"id": STRANGE, "use_pct": STRANGE, "vram_total_mb": 0},
             {"use_pct": 10**400, "vram_used_mb": 10**400, "vram_total_mb": 3}]  # fmt: skip
    one(db, "select qwf.report_metrics('box-a', %s)", Jsonb({"gpus": cards, "cpu_percent": 43}))
    one(db, "select qwf.worker_control('box-a', 'default', 'off', reason => %s)", STRANGE)


def _servers(db: Db) -> None:
    """Model servers with strange names, models, states and errors."""
    name = STRANGE[:200]
    server = {"name": name, "kind": "ollama", "parallel": 1, "models": {STRANGE: None}}
    others = [{**server, "name": other} for other in ("late", "large")]
    served = one(
        db, "select qwf.register_worker('box-a', 'llm', %s)", Jsonb({"servers": [server, *others]})
    )
    doing = [
        {"name": name, "state": "broken", "model": STRANGE, "error": STRANGE + "\n" + STRANGE},
        {"name": "late", "state": STRANGE, "model": {"x": STRANGE}, "since_s": -1e300},
        {"name": "large", "state": "failed", "inflight": 999_999_999, "load_s": 999_999_999,
         "starts": -7, "crashes": 10**400, "error": LONG[:9000]},
    ]  # fmt: skip
    db.execute("select qwf.heartbeat(%s, stats => %s)", (served, Jsonb({"servers": doing})))
    one(db, "select qwf.enqueue('llm', queue => 'llm', model => %s)", STRANGE[:200])


# Words by which the engine finds something, so that it still works: the rest is anybody's text.
WORDS = (
    "kind", "widget", "$from", "type", "format", "on_failure", "run_if", "min_success", "node",
    "pipeline", "action",
)  # fmt: skip
MARK = """
create function pg_temp.marked(value jsonb, name text, markup text) returns jsonb
language sql as $$
  select case jsonb_typeof(value)
    when 'string' then
      case when name = any (%s) then value else to_jsonb((value #>> '{}') || markup) end
    when 'array' then (
      select coalesce(jsonb_agg(pg_temp.marked(e, name, markup) order by n), '[]')
      from jsonb_array_elements(value) with ordinality t (e, n))
    when 'object' then (
      select coalesce(jsonb_object_agg(k, pg_temp.marked(v, k, markup)), '{}')
      from jsonb_each(value) t (k, v))
    else value
  end
$$
"""
# A model is a key of its server.
MARK_MODELS = """
update qwf.workers w set servers = (
  select coalesce(jsonb_agg(s || jsonb_build_object('models', (
    select coalesce(jsonb_object_agg(k || %(markup)s, v), '{}')
    from jsonb_each(s -> 'models') t (k, v)))), '[]')
  from jsonb_array_elements(w.servers) s)
"""
TEXTS = """
select c.table_schema, c.table_name, c.column_name, c.data_type
from information_schema.columns c
join information_schema.tables t using (table_schema, table_name)
where c.table_schema = 'qwf' and t.table_type = 'BASE TABLE'
  and c.data_type in ('text', 'jsonb', 'ARRAY')
  and c.table_name <> 'settings' and c.column_name not in ('queue', 'min_success', 'workflow')
  and (c.table_name, c.column_name) not in (('workflows', 'name'), ('pipelines', 'name'))
order by 1, 2, 3
"""


def mark(db: Db) -> set[str]:
    """Append MARKUP to every text of a database, names included; returns the columns that refuse.

    A name is the same everywhere afterwards. What refuses has a CHECK or a unique form, so no
    producer, worker or body can put such a text there.
    """
    refused = set()
    db.execute(MARK % sql.Literal(list(WORDS)).as_string(db))  # type: ignore[arg-type]
    db.execute("set session_replication_role = replica")
    for schema, table, column, kind in db.execute(TEXTS).fetchall():
        value = {
            "text": "{column} || {markup}",
            "jsonb": "pg_temp.marked({column}, {name}, {markup})",
            "ARRAY": "case when {column} is not null then"
            " array(select e || {markup} from unnest({column}) e) end",
        }[kind]
        statement = sql.SQL("update {table} set {column} = " + value).format(
            table=sql.Identifier(schema, table), column=sql.Identifier(column),
            name=sql.Literal(column), markup=sql.Literal(MARKUP),
        )  # fmt: skip
        try:
            db.execute(statement)
        except (psycopg.errors.IntegrityError, psycopg.DataError, psycopg.ProgrammingError):
            refused.add(f"{table}.{column}")
    db.execute(MARK_MODELS, {"markup": MARKUP})
    db.execute("reset session_replication_role")
    return refused


def one(db: Db, query: LiteralString, *parameters: Any) -> Any:
    """The value that a query returns."""
    (row,) = db.execute(query, parameters).fetchall()
    return row[0]
