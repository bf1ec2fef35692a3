"""A call reads as much as it does, however much the tables hold.

The plans of the engine have to be good while the statistics are wrong, which for a queue they are
most of the time: taken when nothing was queued, or never. A test here fills the tables, calls a
function, and counts the rows that this read, from the server's own counters; nothing is timed. The
calls are repeated in one session, as plans change when they are cached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import psycopg.types.json
import pytest

from qwf_agent.web.pages import run, run_map, run_tabs, run_timeline, runs, workflow, workflows
from support.planted_bugs import put_in
from support.servers import Server

QUEUED = 4_000
FINISHED = 4_000
SCHEDULED = 2_000
CHAINS = 200
WIDE = 2_000

# Rows of any table of the engine read in this transaction, dead ones not counted.
READ = """
    select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint
    from pg_stat_xact_user_tables where schemaname = 'qwf'
"""
TABLES = """
    select oid::regclass::text from pg_class
    where relnamespace = 'qwf'::regnamespace and relkind = 'r'
"""
REPORTS = """
    select coalesce(jsonb_agg(jsonb_build_object(
      'job_id', c.job_id, 'token', c.token, 'outcome', %s::text, 'output', '{"x": 1}'::jsonb,
      'detail', '{}'::jsonb)), '[]')
    from qwf.claim(%s, 'w', %s) c
"""
CHAIN = """{"name": "chain", "nodes": [
    {"id": "a"}, {"id": "b", "depends_on": ["a"], "inputs": {"x": {"$from": "a.x"}}},
    {"id": "c", "depends_on": ["b"], "inputs": {"x": {"$from": "b.x"}}}]}"""
MAP = """{"name": "map", "nodes": [
    {"id": "list", "queue": "gpu"},
    {"id": "each", "queue": "gpu", "depends_on": ["list"], "map": {"$from": "list.items"},
     "max_parallel": 100, "inputs": {"n": {"$from": "item"}}},
    {"id": "sum", "queue": "gpu", "depends_on": ["each"], "inputs": {"n": {"$from": "each.0"}}}]}"""


def fill(db: psycopg.Connection[Any]) -> None:
    """A big queue, a long past, and runs in between, unseen by any statistics."""
    for (table,) in db.execute(TABLES).fetchall():
        db.execute(f"alter table {table} set (autovacuum_enabled = off)")
    db.execute("set client_min_messages = warning")
    db.execute(
        "select count(*) from qwf.enqueue_many((select jsonb_agg(jsonb_build_object("
        "'task', 'past')) from generate_series(1, %s)))",
        [FINISHED],
    )
    while (
        work := db.execute(REPORTS, ["completed", "default", 1000]).fetchone()
    ) is not None and work[0]:
        db.execute("select count(*) from qwf.finish_many(%s)", [psycopg.types.json.Jsonb(work[0])])
    db.execute(
        "select count(*) from qwf.enqueue_many((select jsonb_agg(jsonb_build_object('task', 't', "
        "'run_at', case when g > %s then 'tomorrow' end)) from generate_series(1, %s) g))",
        [QUEUED, QUEUED + SCHEDULED],
    )
    for pipeline in (CHAIN, MAP):
        db.execute("select qwf.register_pipeline(%s)", [pipeline])
    for name in ("chain", "map"):
        db.execute(
            "select qwf.register_workflow(jsonb_build_object('name', %(n)s::text, 'steps', "
            "jsonb_build_array(jsonb_build_object('id', 's', 'kind', 'pipeline', 'pipeline', "
            "%(n)s::text))))",
            {"n": name},
        )
    db.execute("select count(qwf.enqueue_run('chain')) from generate_series(1, %s)", [CHAINS])


def rows_read(
    db: psycopg.Connection[Any], sql: str, args: list[Any] | dict[str, Any] | None = None
) -> int:
    """Rows that one call reads, in a transaction of its own."""
    with db.transaction():
        before = db.execute(READ).fetchone()
        db.execute(sql, args)  # type: ignore[arg-type]
        after = db.execute(READ).fetchone()
    assert before is not None
    assert after is not None
    return int(after[0] - before[0])


def worst(db: psycopg.Connection[Any], times: int, call: Callable[[], int]) -> int:
    return max(call() for _ in range(times))


STATISTICS = ["never analyzed", "analyzed when nothing was queued"]


def filled(db: psycopg.Connection[Any], statistics: str) -> None:
    if statistics != "never analyzed":
        db.execute("analyze")
    fill(db)


@pytest.fixture(params=STATISTICS)
def planned(db: psycopg.Connection[Any], request: pytest.FixtureRequest) -> psycopg.Connection[Any]:
    """A session that has filled the tables, and made plans when less was there."""
    filled(db, request.param)
    return db


@pytest.fixture(scope="module", params=STATISTICS)
def filled_once(server: Server, template: str, request: pytest.FixtureRequest) -> Iterator[str]:
    with server.filled(template, lambda db: filled(db, request.param)) as name:
        yield name


@pytest.fixture
def full(server: Server, filled_once: str) -> Iterator[psycopg.Connection[Any]]:
    """A new session on a database whose tables are full."""
    with server.session(filled_once) as db:
        db.execute("set client_min_messages = warning")
        yield db


def finish(db: psycopg.Connection[Any], queue: str, jobs: int, outcome: str = "completed") -> int:
    """Claims jobs and reports them; rows read by the report."""
    work = db.execute(REPORTS, [outcome, queue, jobs]).fetchone()
    assert work is not None
    assert work[0]
    return rows_read(
        db, "select count(*) from qwf.finish_many(%s)", [psycopg.types.json.Jsonb(work[0])]
    )


def test_calls_read_what_they_do_and_nothing_else(planned: psycopg.Connection[Any]) -> None:
    claim = "select count(*) from qwf.claim('default', 'w', %s)"
    assert worst(planned, 8, lambda: rows_read(planned, claim, [1])) < 40
    assert worst(planned, 8, lambda: rows_read(planned, claim, [100])) < 100 * 10
    assert worst(planned, 8, lambda: finish(planned, "default", 1)) < 60
    assert worst(planned, 8, lambda: finish(planned, "default", 100)) < 100 * 15
    assert worst(planned, 8, lambda: finish(planned, "default", 10, "error")) < 10 * 40
    beat = """
        select count(*) from qwf.heartbeat('w', array(
          select j.token from qwf.jobs j
          where j.claimed_by = 'w' and j.status = 'running' limit 10))
    """
    planned.execute("select count(*) from qwf.claim('default', 'w', 10)")
    assert worst(planned, 8, lambda: rows_read(planned, beat)) < 10 * 100
    assert worst(planned, 8, lambda: rows_read(planned, "select _qwf.promote_due()")) < 20
    assert (
        worst(planned, 8, lambda: rows_read(planned, "select count(*) from _qwf.reclaim()")) < 2_000
    )
    assert worst(planned, 8, lambda: rows_read(planned, "select qwf.drain_outbox()")) < 20
    change = """
        select count(*) from qwf.change_jobs(array(
          select id from qwf.jobs where task = 't' order by id offset 10 limit %s), priority => 7)
    """
    listed = "select from qwf.jobs where task = 't' order by id offset 10 limit %s"
    for jobs in (1, 100, 1000):
        found = rows_read(planned, listed, [jobs])
        assert (
            worst(planned, 8, lambda n=jobs: rows_read(planned, change, [n]))
            < found + jobs * 4 + 40
        )
    enqueue = "select qwf.enqueue('t', key => gen_random_uuid()::text)"
    assert worst(planned, 8, lambda: rows_read(planned, enqueue)) < 40


@pytest.mark.parametrize("keeps", [True, False])
def test_a_finish_reads_its_jobs_when_all_look_alike(
    db: psycopg.Connection[Any], keeps: bool
) -> None:
    """Statistics taken while every job ran and was of one queue: any condition on the queue seems
    to hold for all jobs, or for none."""
    db.execute("select qwf.create_queue('other', keep_completed => %s)", [not keeps])
    db.execute("select qwf.create_queue('default', keep_completed => %s)", [keeps])
    db.execute(
        "select count(*) from qwf.enqueue_many((select jsonb_agg(jsonb_build_object('task', 't'))"
        " from generate_series(1, 1000)))"
    )
    reports = db.execute(REPORTS, ["completed", "default", 1000]).fetchone()
    assert reports is not None
    db.execute("analyze")
    for report in reports[0][:8]:
        one = psycopg.types.json.Jsonb([report])
        read = rows_read(db, "select count(*) from qwf.finish_many(%s)", [one])
        assert read < 60
    many = psycopg.types.json.Jsonb(reports[0][8:108])
    assert rows_read(db, "select count(*) from qwf.finish_many(%s)", [many]) < 100 * 15


def test_nodes_of_a_run_cost_the_same_however_many_there_are(
    planned: psycopg.Connection[Any],
) -> None:
    assert worst(planned, 12, lambda: finish(planned, "cpu", 10)) < 10 * 60
    planned.execute("select qwf.enqueue_run('map')")
    items = "select jsonb_build_object('items', jsonb_agg(g)) from generate_series(1, %s) g"
    opened = rows_read(
        planned,
        f"select qwf.finish(c.job_id, c.token, 'completed', ({items})) "
        "from qwf.claim('gpu', 'w') c",
        [WIDE],
    )
    assert opened < 1_000
    assert worst(planned, 12, lambda: finish(planned, "gpu", 1)) < 100
    assert worst(planned, 12, lambda: finish(planned, "gpu", 50)) < 50 * 40
    ended = rows_read(planned, "select qwf.cancel_run(max(r.id)) from qwf.runs r")
    assert ended < WIDE * 30


def test_events_that_wait_for_other_runs_cost_a_finish_nothing(
    planned: psycopg.Connection[Any],
) -> None:
    planned.execute(
        "insert into qwf.outbox (run_id, job_id, kind)"
        " select g, g, 'requeued' from generate_series(1000000, 1004000) g"
    )
    assert worst(planned, 12, lambda: finish(planned, "cpu", 10)) < 10 * 60


def test_views_read_little_more_than_they_show(full: psycopg.Connection[Any]) -> None:
    finish(full, "default", 10, "fatal")
    read = {
        "recent_jobs": "select * from qwf.recent_jobs",
        "failed_jobs": "select * from qwf.failed_jobs limit 10",
        "failed since": "select * from qwf.failed_jobs"
        " where finished_at > qwf.now() - interval '1 hour'",
        "run_overview": "select * from qwf.run_overview limit 10",
        "one run": "select * from qwf.run_overview where id = (select min(id) from qwf.runs)",
        "pending_inputs": "select * from qwf.pending_inputs",
        "job_timeline": "select * from qwf.job_timeline where job_id = 7",
        "timeline of a run": "select * from qwf.job_timeline where run_id = 7",
        "dead workers": "select * from qwf.worker_overview where state = 'dead'",
        "box_overview": "select * from qwf.box_overview",
        "model_overview": "select * from qwf.model_overview",
        "running_jobs": "select * from qwf.running_jobs order by claimed_at limit 10",
        "overview without sums": "select failed, questions, boxes, empty from qwf.overview",
        "schedule_overview": "select * from qwf.schedule_overview",
    }
    found = {name: rows_read(full, query) for name, query in read.items()}
    assert {name: rows for name, rows in found.items() if rows > 300} == {}


def test_the_pages_of_runs_read_what_they_show(full: psycopg.Connection[Any]) -> None:
    """However many answers and files other jobs and runs have."""
    full.execute("""
      insert into _qwf.event_log (run_id, kind)
        select r.id, 'retried' from qwf.runs r cross join generate_series(1, 10);
      insert into qwf.input_answers (job_id, run_id)
        select j.id, j.run_id from qwf.jobs j;
      insert into qwf.run_files (job_id, file_no, rel_path, run_id, kind, size_bytes)
        select j.id, 1, 'a', j.run_id, 'text', 1 from qwf.jobs j""")
    full.execute("select qwf.enqueue_run('map')")
    full.execute(
        "select qwf.finish(c.job_id, c.token, 'completed', %s) from qwf.claim('gpu', 'w') c",
        [psycopg.types.json.Jsonb({"items": list(range(1000))})],
    )
    ((last, the_map),) = full.execute(
        "select run_id, id from qwf.jobs where node_id = 's/each'"
    ).fetchall()
    of_run = {"run": last - 1, "jobs": [the_map - 1, the_map - 2]}
    of_map = {"map": the_map, "first": 500, "status": None, "most": 100}
    read = {
        f"{page.__name__}.{name}": rows_read(full, getattr(page, name), args)
        for page, names, args in (
            (run, "RUN KNOWN VERSIONS NODES FAILURES CLEANED_UP QUESTIONS PENDING", of_run),
            (run_tabs, "OUTPUTS FILES ANSWERS CONTEXT CHANGED", of_run),
            (run_timeline, "NODES ATTEMPTS WAITS USED", of_run),
            (run_map, "ELEMENTS", of_map),
            (runs, "LISTED WORKFLOWS", {"runs": [last, last - 1]}),
            (workflow, "VERSION VERSIONS GRAPH_ID COMPILED", {"name": "map", "version": 1}),
            (workflows, "WORKFLOWS PIPELINES", {"after": ""}),
        )
        for name in names.split()
    }
    assert {name: rows for name, rows in read.items() if rows > 550} == {}
    assert rows_read(full, workflows.RUNS) < 1000 + 100
    assert rows_read(full, run_map.CELLS, of_map) < 1000 + 100
    assert rows_read(full, run_map.TIMES, of_map) < 1000 * 2 + 100
    for of_attempts in (run_timeline.USED, run_timeline.NODES):
        assert rows_read(full, of_attempts, {"run": last}) < 1000 * 2 + 100


def test_missing_options_are_looked_for_among_the_newest_jobs(
    full: psycopg.Connection[Any],
) -> None:
    full.execute(
        "select qwf.register_worker('box', 'default', jsonb_build_object('tasks', '{t}'::text[],"
        ' \'task_options\', \'{"t": {"priority": "7"}}\'::jsonb))'
    )
    find = "select count(*) from qwf.find_missing_options({})"
    assert full.execute(find.format("")).fetchone() == (1000 - 3 * CHAINS,)
    assert worst(full, 8, lambda: rows_read(full, find.format(""))) < 1_000 + 100
    (newest,) = full.execute("select max(id) from qwf.jobs where task = 't'").fetchall()[0]
    named = (f"job_id => {newest}", "schedule => 's'", "workflow => 'chain'")
    read = {one: worst(full, 8, lambda n=one: rows_read(full, find.format(n))) for one in named}
    assert {one: rows for one, rows in read.items() if rows > 60} == {}


def test_a_drawing_reads_the_nodes_of_its_run_once(full: psycopg.Connection[Any]) -> None:
    """A run of 1,000 nodes, and a map of 10,000 elements, while they run and when they ended."""
    nodes = [{"id": f"n{i}", "depends_on": [f"n{i - 1}"] if i else []} for i in range(1000)]
    full.execute(
        "select qwf.register_pipeline(%s)",
        [psycopg.types.json.Jsonb({"name": "long", "nodes": nodes})],
    )
    full.execute(
        """select qwf.register_workflow('{"name": "long", "steps": [
            {"id": "s", "kind": "pipeline", "pipeline": "long"}]}')"""
    )
    draw, states = (
        f"select qwf.run_graph((select max(id) from qwf.runs){only})"
        for only in ("", ", states_only => true")
    )
    status = "select qwf.run_status((select max(id) from qwf.runs))"
    stored = "select qwf.workflow_graph(graph_id => (select max(id) from qwf.graphs))"
    assert worst(full, 8, lambda: rows_read(full, stored)) < 1000 * 4 + 100
    full.execute("select qwf.enqueue_run('long')")
    assert worst(full, 8, lambda: rows_read(full, draw)) < 1000 * 4 + 100
    assert worst(full, 8, lambda: rows_read(full, states)) < 1000 + 100
    assert worst(full, 8, lambda: rows_read(full, status)) < 1000 * 4 + 100
    full.execute("select qwf.enqueue_run('map')")
    items = psycopg.types.json.Jsonb({"items": list(range(10_000))})
    full.execute(
        "select qwf.finish(c.job_id, c.token, 'completed', %s) from qwf.claim('gpu', 'w') c",
        [items],
    )
    for query, bound in ((draw, 10_100), (states, 10_100), (status, 10_100)):
        assert worst(full, 3, lambda query=query: rows_read(full, query)) < bound
        (drawn,) = full.execute(query).fetchall()[0]  # type: ignore[arg-type]
        assert [sum(n.get("elements", {}).values()) for n in drawn["nodes"]] == [0, 10_000, 0]
    full.execute(
        """update qwf.jobs set status = 'completed', remaining_deps = 0, finished_at = now()
        where node_id = 's/each'"""
    )
    assert worst(full, 8, lambda: rows_read(full, states)) < 100


def test_why_a_job_waits_reads_only_what_is_ahead_of_it(full: psycopg.Connection[Any]) -> None:
    """At most 1,000 jobs, and neither the rest of the queue nor what has ended."""
    full.execute("select qwf.register_worker('box', 'default')")
    full.execute("select qwf.create_limit('few', 3)")
    full.execute("select qwf.enqueue('t', limit_by => 'few') from generate_series(1, 500)")
    job = "select j.id from qwf.jobs j where j.status = 'queued' and j.queue = 'default'"
    for order, most in (("position", 100), ("position desc", 1_200)):
        row = full.execute(f"{job} order by {order} limit 1").fetchone()  # type: ignore[arg-type]
        assert row is not None
        why = "select qwf.why_not(%s)"
        assert worst(full, 8, lambda: rows_read(full, why, [row[0]])) < most, order  # noqa: B023


def test_pruning_reads_what_it_looks_at(full: psycopg.Connection[Any]) -> None:
    prune = "select qwf.prune(100)"
    assert worst(full, 8, lambda: rows_read(full, prune)) < 250  # nothing is old
    full.execute("select count(qwf.cancel_run(id)) from qwf.runs")
    full.execute("update qwf.settings set retention = '1 us'")
    assert worst(full, 8, lambda: rows_read(full, prune)) < 100 * 40
    full.execute("select _qwf.roll_up_counts()")
    assert rows_read(full, "select _qwf.roll_up_counts()") < 10


def test_recording_minutes_reads_a_bounded_part_of_a_long_queue(
    full: psycopg.Connection[Any],
) -> None:
    """10,001 of 20,000 queued jobs in each of two orders, no finished or scheduled job, and only
    the samples of the minutes that are not written yet."""
    full.execute("select qwf.create_limit('few', 3)")
    deep = (
        "insert into qwf.jobs (queue, task, status, position, queued_at, limit_by)"
        " select 'gpu', 't', 'queued', g, now(), %s from generate_series(1, 20000) g"
    )
    for limit in (None, "few"):
        full.execute(deep, [limit])
    samples = (
        "insert into qwf.host_metrics (host, sampled_at)"
        " select 'box-' || h, g from generate_series(1, 10) h, generate_series("
        "date_trunc('minute', now()) - interval '1 h', now(), '5 s') g"
    )
    full.execute(samples)
    full.execute("select count(*) from qwf.claim('default', 'w', 100)")
    record = "select _qwf.record_minutes()"
    full.execute(record)
    *idle, _ = sorted(rows_read(full, record) for _ in range(8))
    assert idle[-1] < 20  # nothing is due, but for one of the calls if a minute ends meanwhile

    def due() -> int:
        full.execute("delete from qwf.queue_minutes")
        full.execute(
            "delete from qwf.host_minutes"
            " where minute >= date_trunc('minute', now()) - interval '1 min'"
        )
        return rows_read(full, record)

    assert worst(full, 8, due) < QUEUED + 2 * 10_001 + 1_000


def test_a_claim_reads_what_it_takes_along_every_walk(full: psycopg.Connection[Any]) -> None:
    """The jobs that fit are last in the queue, behind a limit that is full, one whose rate is used
    up, and jobs of others."""
    full.execute("select qwf.create_limit('full', 1), qwf.create_limit('few', 3)")
    full.execute("update qwf.limit_slots set job_id = 0 where limit_name = 'full'")
    full.execute("select qwf.create_limit('spent', starts => 4000, per => '1 hour')")
    full.execute("update qwf.limit_starts set used_at = now()")
    queue: list[tuple[int, dict[str, Any]]] = [
        (QUEUED, {"limit_by": "full"}),
        (QUEUED, {"limit_by": "spent"}),
        (QUEUED, {"model": "common"}),
        (QUEUED, {"limit_by": "few"}),
        (20, {"model": "rare"}),
        (20, {}),
        (20, {"limit_by": "few"}),
    ]
    for count, job in queue:
        full.execute(
            "select count(*) from qwf.enqueue_many((select jsonb_agg(%s::jsonb)"
            " from generate_series(1, %s)))",
            [psycopg.types.json.Jsonb({"task": "t", "queue": "gpu", **job}), count],
        )
    full.execute(
        "update qwf.jobs set light = true where id in (select id from qwf.jobs"
        " where queue = 'gpu' order by id desc limit 40)"
    )
    for info, light, most in (
        ("{}", False, 100),
        ('{"current_model": "rare"}', False, 140),
        ('{"rank": -1}', False, 100),
        ("{}", True, 3 * QUEUED + 1_000),  # passes heavy jobs
    ):
        (worker,) = full.execute("select qwf.register_worker('box', 'gpu', %s)", [info]).fetchone()  # type: ignore[misc]
        call = "select count(*) from qwf.claim('gpu', %s, 1, light_only => %s)"
        args = [worker, light]
        assert worst(full, 8, lambda: rows_read(full, call, args)) < most, (info, light)  # noqa: B023
    due = "select _qwf.next_start_at(now())"
    assert worst(full, 8, lambda: rows_read(full, due)) < 40


def test_a_claim_that_yields_reads_the_head_of_the_queue(full: psycopg.Connection[Any]) -> None:
    full.execute("select qwf.create_queue('gpu', placement => 'pack')")
    full.execute('select qwf.change_settings(\'{"pack_patience": "1 day"}\')')
    full.execute(
        "select count(*) from qwf.enqueue_many((select jsonb_agg("
        ' \'{"task": "t", "queue": "gpu"}\'::jsonb) from generate_series(1, %s)))',
        [QUEUED],
    )
    full.execute("select qwf.sleep(qwf.register_worker('best', 'gpu', '{\"slots\": 8}'), 'gpu')")
    (worker,) = full.execute("select qwf.register_worker('box', 'gpu')").fetchone()  # type: ignore[misc]
    call = "select count(*) from qwf.claim('gpu', %s)"
    assert full.execute(call, [worker]).fetchone() == (0,)
    assert worst(full, 8, lambda: rows_read(full, call, [worker])) < 100


def test_plans_made_while_nothing_was_there_hold(db: psycopg.Connection[Any]) -> None:
    """A worker that came before the work keeps the plans it made then, for a while."""
    claim = "select count(*) from qwf.claim('default', 'w', %s)"
    for table in ("jobs", "runs", "outbox", "job_attempts"):
        db.execute(f"alter table qwf.{table} set (autovacuum_enabled = off)")
    db.execute("analyze")
    for jobs in (1, 10):
        db.execute("select qwf.enqueue('first') from generate_series(1, %s)", [jobs])
        worst(db, 8, lambda: rows_read(db, claim, [10]))
    db.execute("delete from qwf.jobs")
    db.execute(
        "select count(*) from qwf.enqueue_many((select jsonb_agg(jsonb_build_object('task', 't'))"
        " from generate_series(1, %s)))",
        [QUEUED],
    )
    assert worst(db, 8, lambda: rows_read(db, claim, [1])) < 40
    assert worst(db, 8, lambda: rows_read(db, claim, [100])) < 100 * 10


# Rows read from tables and entries read from indexes, in this transaction.
WALKED = """
    select coalesce(sum(pg_stat_get_xact_tuples_returned(c.oid)), 0)::bigint from pg_class c
    where c.relnamespace = 'qwf'::regnamespace and c.relkind in ('r', 'i')
"""
OLDEST = "(select min(id) from qwf.jobs)"


def walked(db: psycopg.Connection[Any], sql: str) -> int:
    """Rows and index entries that one call reads, in a transaction of its own.

    It is called once before, as the first walk over an index marks its dead entries.
    """
    db.execute(sql)  # type: ignore[arg-type]
    with db.transaction():
        before = db.execute(WALKED).fetchone()
        db.execute(sql)  # type: ignore[arg-type]
        after = db.execute(WALKED).fetchone()
    assert before is not None
    assert after is not None
    return int(after[0] - before[0])


def change_all(db: psycopg.Connection[Any], statement: str) -> None:
    """Change many jobs at once, as no caller could, without what the engine does besides."""
    db.execute("set session_replication_role = replica")
    db.execute(statement)  # type: ignore[arg-type]
    db.execute("set session_replication_role = origin")


MISJUDGED = ["never analyzed", "when empty", "when little waited", "when most ran"]


def fill_and_misjudge(db: psycopg.Connection[Any], statistics: str) -> None:
    if statistics == "when empty":
        db.execute("analyze")
    fill(db)
    change_all(
        db,
        "update qwf.jobs set status = 'failed', last_error = 'E: ' || id where id in"
        " (select id from qwf.jobs where status = 'completed' order by id limit 1500)",
    )
    if statistics == "when little waited":
        few = "select id from qwf.jobs where status = 'queued' order by id limit 30"
        db.execute("create temp table waiting as select id from qwf.jobs where status = 'queued'")
        change_all(
            db,
            f"update qwf.jobs set status = 'blocked' where status = 'queued' and id not in ({few})",
        )
        db.execute("analyze")
        change_all(db, "update qwf.jobs set status = 'queued' where id in (select id from waiting)")
    elif statistics == "when most ran":
        db.execute("create temp table past as select id from qwf.jobs where status = 'completed'")
        change_all(db, "update qwf.jobs set status = 'running' where status = 'completed'")
        db.execute("analyze")
        change_all(db, "update qwf.jobs set status = 'completed' where id in (select id from past)")


@pytest.fixture(scope="module", params=MISJUDGED)
def misjudged_once(server: Server, template: str, request: pytest.FixtureRequest) -> Iterator[str]:
    with server.filled(template, lambda db: fill_and_misjudge(db, request.param)) as name:
        yield name


@pytest.fixture
def misjudged(server: Server, misjudged_once: str) -> Iterator[psycopg.Connection[Any]]:
    """`full`, with some failed jobs, and statistics that say something else."""
    with server.session(misjudged_once) as db:
        db.execute("set client_min_messages = warning")
        yield db


def test_looking_for_lapsed_leases_reads_what_runs(misjudged: psycopg.Connection[Any]) -> None:
    lapsed = "select count(*) from _qwf.reclaim()"
    assert worst(misjudged, 8, lambda: rows_read(misjudged, lapsed)) < 2_000


def test_a_glance_reads_to_its_bound(misjudged: psycopg.Connection[Any]) -> None:
    count = "select * from qwf.count_jobs(100)"
    assert worst(misjudged, 8, lambda: walked(misjudged, count)) < QUEUED + 3 * 120 + 500
    view = "select * from qwf.queue_overview"
    assert worst(misjudged, 8, lambda: walked(misjudged, view)) < QUEUED + SCHEDULED + 500


def test_counting_plans_once_for_all_queues(db: psycopg.Connection[Any]) -> None:
    """Before Postgres 18 a function in SQL is planned in each call, which took 4 ms for each queue.
    A nested loop would read all running jobs for each queue."""
    found = db.execute(
        "select p.proname from pg_proc p join pg_language l on l.oid = p.prolang"
        " where p.proname in ('queue_heads', 'count_queued') and l.lanname = 'plpgsql'"
    ).fetchall()
    assert len(found) == 2
    loose = db.execute(
        "select p.proname from pg_proc p"
        " where p.proname in ('count_jobs', 'record_queues', 'find_unassignable')"
        " and not p.proconfig @> '{plan_cache_mode=force_generic_plan}'"
    ).fetchall()
    assert loose == []
    nested = db.execute(
        "select p.proname from pg_proc p where p.proname in ('count_jobs', 'record_queues')"
        " and not p.proconfig @> '{enable_nestloop=off}'"
    ).fetchall()
    assert nested == []


def test_a_search_reads_what_it_may_look_back(misjudged: psycopg.Connection[Any]) -> None:
    """Ids are walked at most twice: for how far that goes, and with their rows."""
    found = {
        wanted: walked(
            misjudged, f"select * from qwf.find_jobs('{wanted}', look_back => 300, max_rows => 10)"
        )
        for wanted in (
            "{}",
            '{"task": "none"}',
            '{"error": "none"}',
            '{"args": {"none": 1}}',
            '{"status": "failed"}',
            '{"status": ["queued", "running", "scheduled", "failed"], "task": "none"}',
            '{"status": "completed", "key": "none"}',
            '{"since": "2100-01-01"}',
            '{"until": "2001-01-01"}',
        )
    }
    assert {wanted: rows for wanted, rows in found.items() if rows > 3 * 300 + 50} == {}
    assert found["{}"] < 40
    assert walked(misjudged, f"select * from qwf.find_jobs('{{}}', {OLDEST})") < 20


def test_a_search_for_a_run_or_a_rare_state_reads_its_jobs(
    misjudged: psycopg.Connection[Any],
) -> None:
    misjudged.execute("select qwf.claim('cpu', 'w', 7)")
    run = (
        "select * from qwf.find_jobs(jsonb_build_object('run_id', (select max(id) from qwf.runs)))"
    )
    assert walked(misjudged, run) < 40
    running = 'select * from qwf.find_jobs(\'{"status": "running"}\')'
    assert walked(misjudged, running) < 100


def test_a_search_for_runs_reads_what_it_may_look_back(
    misjudged: psycopg.Connection[Any],
) -> None:
    for wanted, most in (
        ("{}", 10 * 8),
        ('{"workflow": "none"}', 3 * 50),
        ('{"status": "queued"}', 4 * 50 + 10 * 8),
        ('{"status": "failed"}', 3 * 50),
    ):
        find = f"select * from qwf.find_runs('{wanted}', look_back => 50, max_rows => 10)"
        assert walked(misjudged, find) < most + 50, wanted


def test_failure_groups_read_to_their_bound(misjudged: psycopg.Connection[Any]) -> None:
    groups = "select * from qwf.failure_groups(max_rows => 100)"
    assert worst(misjudged, 8, lambda: walked(misjudged, groups)) < 250


def test_what_the_first_page_checks_reads_no_queue_to_its_end(
    misjudged: psycopg.Connection[Any],
) -> None:
    misjudged.execute("select qwf.claim('cpu', 'w', 7)")
    misjudged.execute("select qwf.register_worker('box', 'cpu', '{\"tasks\": [\"none\"]}')")
    running = "select * from qwf.check_invariants(true)"  # some dead entries are not marked
    assert worst(misjudged, 8, lambda: walked(misjudged, running)) < 1_000
    stuck = "select * from qwf.find_unassignable(10)"
    assert worst(misjudged, 8, lambda: walked(misjudged, stuck)) < 300


def test_the_doctor_reads_no_queue_to_its_end(misjudged: psycopg.Connection[Any]) -> None:
    misjudged.execute("select qwf.claim('cpu', 'w', 7)")
    checks = "select * from qwf.doctor('{settings,tick,runs,workers,models,schedules}')"
    assert worst(misjudged, 8, lambda: walked(misjudged, checks)) < 1_000


def test_a_page_of_questions_reads_a_page(misjudged: psycopg.Connection[Any]) -> None:
    """However many wait, and though none did when statistics were taken."""
    change_all(
        misjudged,
        "update qwf.jobs set status = 'awaiting_input', input_spec = '{\"widget\": \"text\"}',"
        " expires_at ="
        " case when id % 2 = 0 then now() + id * interval '1 s' end, queue = null"
        " where status = 'queued'",
    )
    misjudged.execute("insert into qwf.waits select w.* from qwf.jobs j, _qwf.waits_of(j) w")
    for ending in ("false", "true"):
        first = f"select * from qwf.find_inputs(ending => {ending}, max_rows => 10)"
        assert worst(misjudged, 8, lambda of=first: walked(misjudged, of)) < 60
        (at, job) = misjudged.execute(
            f"select case when {ending} then expires_at else since end, job_id"
            f" from qwf.find_inputs(ending => {ending}, max_rows => 100) offset 99"
        ).fetchone()  # type: ignore[misc]
        later = f"{first[:-1]}, after => '{at}', after_job => {job})"
        assert worst(misjudged, 8, lambda of=later: walked(misjudged, of)) < 60


def test_a_signal_reads_what_waits_for_it(misjudged: psycopg.Connection[Any]) -> None:
    """However many wait for others, and though none did at the time of the statistics; and a tick
    reads nothing of them when no signal is new."""
    change_all(
        misjudged,
        "update qwf.jobs set status = 'awaiting_input', queue = null,"
        " input_spec = jsonb_build_object('signal', 's' || id % 1000) where status = 'queued'",
    )
    misjudged.execute("insert into qwf.waits select w.* from qwf.jobs j, _qwf.waits_of(j) w")
    assert worst(misjudged, 8, lambda: walked(misjudged, "select qwf.signal('nobody')")) < 20
    misjudged.execute("update qwf.signals set look_at = null")
    tick = "select _qwf.match_signals()"
    assert worst(misjudged, 8, lambda: walked(misjudged, tick)) < 20


def test_expiring_reads_what_is_over(misjudged: psycopg.Connection[Any]) -> None:
    """However many jobs and questions have time left, and though none did at the time of the
    statistics."""
    change_all(
        misjudged,
        "update qwf.jobs set expires_at = now() + interval '1 day' where status = 'queued'",
    )
    change_all(
        misjudged,
        "update qwf.jobs set status = 'awaiting_input', input_spec = '{\"widget\": \"text\"}',"
        " queue = null,"
        " expires_at = now() + interval '1 day' where status = 'scheduled'",
    )
    misjudged.execute("insert into qwf.waits select w.* from qwf.jobs j, _qwf.waits_of(j) w")
    expire = "select _qwf.expire_jobs() + _qwf.expire_inputs()"
    assert worst(misjudged, 8, lambda: walked(misjudged, expire)) < 20
    over = "select job_id from qwf.waits where kind = 'deadline' order by job_id limit 10"
    late = "now() - interval '1 s'"
    for _ in range(8):
        misjudged.execute(f"update qwf.jobs set expires_at = {late} where id in ({over})")
        misjudged.execute(f"update qwf.waits set at = {late} where job_id in ({over})")
        assert rows_read(misjudged, expire) < 10 * 10
    assert misjudged.execute("select count(*) from qwf.jobs where status = 'cancelled'").fetchone(
    ) == (80,)  # fmt: skip


def test_looking_for_late_runs_reads_those(misjudged: psycopg.Connection[Any]) -> None:
    """However many are live, with time left or without a deadline."""
    look = "select _qwf.fail_overdue_runs()"
    assert worst(misjudged, 8, lambda: walked(misjudged, look)) < 20
    misjudged.execute("update qwf.runs set deadline_at = now() + interval '1 day' where id % 2 = 0")
    assert worst(misjudged, 8, lambda: walked(misjudged, look)) < 20
    for count in (1, 3):
        misjudged.execute("update qwf.runs set deadline_at = now() - interval '1 s' where id in"
                          " (select id from qwf.runs where ending is null and finished_at is null"
                          " order by id desc limit %s)", [count])  # fmt: skip
        assert misjudged.execute(look).fetchone() == (count,)


def test_opening_an_element_passes_few_that_ended(misjudged: psycopg.Connection[Any]) -> None:
    misjudged.execute("select qwf.enqueue_run('map')")
    items = psycopg.types.json.Jsonb({"items": list(range(WIDE))})
    report = "select qwf.finish(c.job_id, c.token, 'completed', %s) from qwf.claim('gpu', 'w') c"
    misjudged.execute(report, [items])
    assert worst(misjudged, 60, lambda: finish(misjudged, "gpu", 1)) < 60
    assert worst(misjudged, 8, lambda: finish(misjudged, "gpu", 50)) < 50 * 30


def test_counting_failures_by_box_reads_the_newest_alone(
    misjudged: psycopg.Connection[Any],
) -> None:
    change_all(misjudged, "update qwf.jobs set finished_at = qwf.now() where status = 'failed'")
    assert walked(misjudged, "select host, failed from qwf.box_overview") < 3 * 1000 + 100


def test_the_head_of_a_page_reads_no_old_failure(full: psycopg.Connection[Any]) -> None:
    """Every page says how much failed within the last hour: it may be nothing of very much."""
    full.execute(
        "insert into qwf.jobs (queue, task, status, attempt, finished_at)"
        " select 'default', 't', 'failed', 1, qwf.now() - interval '2 h'"
        " from generate_series(1, 3000)"
    )
    badges = "select failed, questions from qwf.overview"
    assert worst(full, 8, lambda: walked(full, badges)) < 50


def test_all_in_one_row_costs_a_glance_and_the_newest_failures(
    misjudged: psycopg.Connection[Any],
) -> None:
    view = "select * from qwf.overview"
    bound = QUEUED + SCHEDULED + 500 + 1500
    assert worst(misjudged, 8, lambda: walked(misjudged, view)) < bound


def scans(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """The nodes of a plan that read a table."""
    inner = [node for child in plan.get("Plans", ()) for node in scans(child)]
    return [plan, *inner] if "Relation Name" in plan else inner


@pytest.mark.parametrize(
    ("view", "filtered", "tables"),
    [
        ("worker_overview", "host = 'x'", {"workers", "worker_controls"}),
        ("worker_overview", "queue = 'x'", {"workers", "worker_controls"}),
        ("server_overview", "host = 'x'", {"workers", "worker_controls"}),
        ("box_overview", "host = 'x'", {"workers", "worker_controls", "host_metrics"}),
        (
            "queue_overview",
            "queue = 'x'",
            {"workers", "worker_controls", "queue_minutes", "queues"},
        ),
        ("queue_history", "queue = 'x'", {"queue_minutes"}),
        ("running_jobs", "host = 'x'", set()),
    ],
)
def test_a_filter_reaches_the_tables_of_a_view(
    db: psycopg.Connection[Any], view: str, filtered: str, tables: set[str]
) -> None:
    explain = f"explain (format json) select * from qwf.{view} where {filtered}"
    ((found,),) = db.execute(explain).fetchall()  # type: ignore[arg-type]
    read = [node for node in scans(found[0]["Plan"]) if node["Relation Name"] in tables]
    assert {node["Relation Name"] for node in read} == tables
    kinds = ("Filter", "Index Cond", "Recheck Cond")
    assert all("'x'" in " ".join(node.get(kind, "") for kind in kinds) for node in read), read


def test_a_claim_of_keys_reads_few_rows(planned: psycopg.Connection[Any]) -> None:
    """Whatever the statistics say, and however many jobs and keys wait."""
    planned.execute("select qwf.create_limit('customer', 2, keyed => true)")
    planned.execute(
        "select count(qwf.enqueue('t', queue => 'cpu', limit_by => 'customer:' || g % 500))"
        " from generate_series(1, 2000) g"
    )
    planned.execute(
        "select count(qwf.enqueue('t', queue => 'cpu', limit_by => 'customer:heavy'))"
        " from generate_series(1, 2000)"
    )
    claims = "select count(*) from qwf.claim('cpu', 'w', 10)"
    assert worst(planned, 12, lambda: rows_read(planned, claims)) < 250
    ends = "select count(*) from qwf.finish_many(%s)"
    for _ in range(8):
        work = planned.execute(REPORTS, ["completed", "cpu", 10]).fetchone()
        assert work is not None
        assert rows_read(planned, ends, [psycopg.types.json.Jsonb(work[0])]) < 250


@pytest.mark.parametrize("text", ["(select true", "exists (select"])
def test_an_end_finds_out_without_reading_a_line_whether_its_key_has_more(
    db: psycopg.Connection[Any], dsn: str, text: str
) -> None:
    """`exists` was planned to read all jobs of the line, where the statistics knew of them."""
    if text.startswith("exists"):
        put_in(
            dsn,
            "_qwf.wake_for_keys",
            "(select true from",
            "exists (select from",
        )
    db.execute("select qwf.create_limit('customer', 2, keyed => true)")
    for keys, jobs in ((1, 20_000), (3_000, 3_000)):
        db.execute(
            "select count(*) from qwf.enqueue_many((select jsonb_agg(jsonb_build_object("
            "'task', 't', 'queue', 'cpu', 'limit_by', 'customer:' || g %% %s))"
            " from generate_series(1, %s) g))",
            [keys, jobs],
        )
    db.execute("analyze qwf.jobs")
    db.execute("select qwf.sleep('w', 'cpu')")
    look = "select _qwf.wake_for_keys(array[hashtextextended('customer:0', 0)])"
    assert (worst(db, 8, lambda: rows_read(db, look)) < 50) == (text == "(select true")


@pytest.mark.parametrize("text", ["e.id = any", "e.id + 0 = any"])
def test_events_get_their_numbers_by_id(db: psycopg.Connection[Any], dsn: str, text: str) -> None:
    """However many wait, and though none did when the table was analyzed; `e.id + 0` reads all."""
    if text != "e.id = any":
        put_in(dsn, "_qwf.number_batch", "e.id = any", text)
    happens = "insert into _qwf.event_log (kind) select 'lost' from generate_series(1, %s)"
    db.execute(happens, [20_000])
    db.execute("select _qwf.number_events(20000, 600000)")
    db.execute("vacuum analyze _qwf.event_log")
    db.execute(happens, [5_000])
    db.execute("select pg_stat_force_next_flush()")  # else the rows of before are counted, too
    with db.transaction():
        db.execute("select _qwf.number_batch(0, 20000, 100)")
        row = db.execute(READ.replace("'qwf'", "'_qwf'")).fetchone()
    assert row is not None
    assert (row[0] < 1_000) == (text == "e.id = any"), row


def test_events_get_their_numbers_by_id_in_a_table_that_was_empty(
    db: psycopg.Connection[Any],
) -> None:
    """A join with the table compared each of 1,000 new events with each that waited."""
    db.execute("vacuum analyze _qwf.event_log")
    db.execute("insert into _qwf.event_log (kind) select 'lost' from generate_series(1, 5000)")
    db.execute("select pg_stat_force_next_flush()")
    with db.transaction():
        db.execute("select _qwf.number_batch(0, 0, 100)")
        row = db.execute(READ.replace("'qwf'", "'_qwf'")).fetchone()
    assert row is not None
    assert row[0] < 1_000, row
