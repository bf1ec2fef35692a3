"""The cost of alerts, late work and metrics: rules on many events, a look at many open runs, a
scrape after a year, and all of it when nothing happens.

Times are those of the parts of a tick, called alone, and of a whole scrape over HTTP.
"""

from __future__ import annotations

import http.client
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import click

from bench.measure import percentiles
from bench.samples import Sample
from bench.scenario import scenario
from bench.scenarios.dag import chain, register
from bench.server import Database, Server

RULES = """
    select qwf.set_alert('r' || n, '{"when": ["run_ended"], "do": {"receiver": "ops"}}')
    from generate_series(1, %s) n
"""
ENDS = """
    insert into _qwf.event_log (run_id, kind, subject, detail)
    select (%s::bigint[])[1 + n %% cardinality(%s::bigint[])], 'run_ended', 'flow' || n %% %s,
      '{"status": "failed", "seconds": 1.5, "error": "load failed: no such file"}'
    from generate_series(1, %s) n
"""
YEAR = """
    insert into qwf.attempt_totals (
      queue, task, outcome, count, wait_seconds, waits, run_seconds, runs)
    select 'default', 'task' || n, o, 4000, 5000.5, array_fill(50, array[60]), 9000.25,
      array_fill(40, array[80])
    from generate_series(1, 50) n, unnest('{completed,failed}'::text[]) o;
    insert into _qwf.run_totals (workflow, status, count, seconds, edges)
    select 'flow' || n, s, 10000, 12345.5, array_fill(500, array[17])
    from generate_series(1, 200) n, unnest('{completed,failed}'::text[]) s
    where s = 'completed' or n <= 60;
    insert into qwf.usual_times (kind, name, since, runs, last_success, last_seconds)
    select 'run', 'flow' || n, now(), 10, now(), 5 from generate_series(1, 200) n;
    analyze;
"""
LATER = """  -- 20 seconds after the last event: a look passes those that were numbered before that
    update _qwf.event_numbers set looked_at = now(), floor_id = l.id, mark_id = l.id
    from (select max(id) as id from _qwf.event_log) l
"""
IDLE = ("numbered", "judged", "learned")  # the parts of a tick that this is about


@scenario("alerts")
@click.option("--rules", default=50, show_default=True)
@click.option("--subjects", default=200, show_default=True, help="Each rule is about all of them.")
@click.option("--events", default=5_000, show_default=True)
@click.option("--runs", default=50_000, show_default=True, help="Open ones.")
@click.option("--scrapes", default=30, show_default=True)
def alerts(
    server: Server, rules: int, subjects: int, events: int, runs: int, scrapes: int
) -> Iterator[Sample]:
    """Rules, lateness and metrics: with much to do, and with nothing."""
    with server.database() as base:
        register(base, "w", chain(1))
        base.conn.execute("select count(qwf.enqueue_run('w')) from generate_series(1, 100)")
        base.conn.execute("vacuum analyze")
        yield from matched(base, rules, subjects, events)
        yield from judged(base, runs)
        base.conn.execute(LATER)
        for name in IDLE:
            part(base, name)
            took = [part(base, name) for _ in range(20)]
            yield Sample("alerts", f"idle, {name}", percentiles(took)["p50"], "ms")
    with server.database() as base:
        base.conn.execute(YEAR)
        yield from scraped(base, scrapes)


def matched(base: Database, rules: int, subjects: int, events: int) -> Iterator[Sample]:
    """The part numbered: without a rule, when all alerts open, and when they are open."""
    ids = [row[0] for row in base.conn.execute("select id from qwf.runs").fetchall()]

    def happen(number: int) -> float:
        base.conn.execute(ENDS, [ids, ids, subjects, number])
        took = part(base, "numbered")
        if base.value("select count(*) from _qwf.event_log where seq is null"):
            took += part(base, "numbered")
        return 1000 * took

    part(base, "numbered")
    yield Sample("alerts", f"{events:,} events, no rule", happen(events), "ms")
    base.conn.execute(RULES, [rules])
    part(base, "numbered")
    what = f"{rules} rules, {subjects} subjects"
    first = happen(1_000)
    opened = {"alerts": float(base.value("select count(*) from qwf.open_alerts"))}
    yield Sample("alerts", f"1,000 events, {what}, all open", first, "ms", more=opened)
    yield Sample("alerts", f"{events:,} events, {what}", happen(events), "ms")


def judged(base: Database, runs: int) -> Iterator[Sample]:
    """The part judged, which looks at 5,000 open runs, from where the last look ended."""
    for begun in range(0, runs, 5_000):
        query = "select count(qwf.enqueue_run('w')) from generate_series(1, %s)"
        base.conn.execute(query, [min(5_000, runs - begun)])
    base.conn.execute("vacuum analyze qwf.runs")
    took = []
    for _ in range(0, runs, 5_000):
        base.conn.execute("update _qwf.judged set at = at - interval '20 s'")
        took.append(part(base, "judged"))
    ranks = percentiles(took)
    yield Sample("alerts", f"judged, {runs:,} open runs", ranks.pop("p50"), "ms", more=ranks)


def part(base: Database, name: str) -> float:
    """The seconds that a part of a tick takes."""
    began = time.perf_counter()
    base.conn.execute("select _qwf.tick_part(%s)", [name])
    return time.perf_counter() - began


def scraped(base: Database, scrapes: int) -> Iterator[Sample]:
    """The statement of a scrape, and the whole scrape over HTTP, as `qwf metrics` answers it."""
    rows = base.value("select count(*) from qwf.metrics")
    took = []
    for _ in range(scrapes):
        began = time.perf_counter()
        base.conn.execute("select lines from qwf.metrics_text order by name, place").fetchall()
        took.append(time.perf_counter() - began)
    ranks: dict[str, Any] = percentiles(took)
    yield Sample("alerts", f"scrape of {rows:,} figures, SQL", ranks.pop("p50"), "ms", more=ranks)
    command = [sys.executable, "-c", "from qwf_agent.cli import main; main()", "metrics"]
    process = subprocess.Popen(
        [*command, "--listen", ":0", "--dsn", base.dsn], stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        port = int(process.stderr.readline().rpartition(":")[2].partition("/")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        took = [scrape(connection) for _ in range(scrapes + 6)][6:]  # it prepares the statement
        connection.close()
    finally:
        process.kill()
        process.wait()
    ranks = percentiles(took)
    yield Sample("alerts", f"scrape of {rows:,} figures, HTTP", ranks.pop("p50"), "ms", more=ranks)


def scrape(connection: http.client.HTTPConnection) -> float:
    """The seconds that a scrape takes, compressed as Prometheus asks."""
    began = time.perf_counter()
    connection.request("GET", "/metrics", headers={"Accept-Encoding": "gzip"})
    connection.getresponse().read()
    return time.perf_counter() - began
