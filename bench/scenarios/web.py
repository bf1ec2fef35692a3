"""Cost of `qwf web`: the time of each page, and the load of many tabs.

An answer of the database serves everybody for a second, so a page is asked for at most that often:
each timed call reads from the database, except what another page of the same round has just read.
Tabs follow their streams as browsers do.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import click
import psutil

from bench import tabs
from bench.measure import Meter, fill, percentiles, until
from bench.processes import ROOT, agents, die_with_parent, end
from bench.samples import Sample
from bench.scenario import scenario
from bench.scenarios.dag import chain, fan, register
from bench.scenarios.scale import ATTEMPTS, PAST
from bench.server import BenchError, Database, Server

FRESH_S = 1.1  # an answer is used again for a second
FAILED = """
    insert into qwf.jobs (task, queue, status, position, attempt, failures, claimed_by, claimed_at,
      queued_at, started_at, finished_at, last_error)
    select
      'noop', 'default', 'failed', nextval('qwf.job_position'), 1, 1, 'w', t.at, t.at, t.at, t.at,
      'Traceback (most recent call last):' || chr(10) || 'ValueError: bad picture ' || g %% 40
    from generate_series(1, %s) g,
      lateral (select now() - random() * interval '30 days' as at where g > 0) t
"""
SESSIONS = "select pid from pg_stat_activity where application_name = 'qwf web'"
PATHS = (
    "/", "/runs", "/runs/{run}", "/runs/{large}", "/jobs", "/jobs?status=failed", "/jobs/{job}",
    "/queues", "/queues/default", "/fleet", "/fleet/{host}", "/failures", "/schedules", "/inputs",
    "/inputs/{question}", "/workflows", "/workflows/run", "/workflows/large",
    "/search?q=bad+picture+7",
)  # fmt: skip


@scenario("web", rounds=1)
@click.option("--queued", default=20_000, show_default=True)
@click.option("--finished", default=100_000, show_default=True)
@click.option("--failed", default=5_000, show_default=True)
@click.option("--large", default=998, show_default=True, help="Siblings of the large run.")
@click.option("--calls", default=20, show_default=True, help="Timed calls of each page.")
@click.option("--tabs", "most", default=50, show_default=True, help="Also measured: 0 and 1.")
@click.option("--seconds", default=20.0, show_default=True, help="With each number of tabs.")
def web(
    server: Server, queued: int, finished: int, failed: int, large: int, calls: int, most: int,
    seconds: float,
) -> Iterator[Sample]:  # fmt: skip
    """Milliseconds of each page, and what tabs cost Postgres and the process of the page.

    One agent serves an idle queue, so that there are samples and heartbeats.
    """
    with server.database() as base:
        ids = prepare(base, queued, finished, failed, large)
        paths = [path.format(**ids) for path in PATHS]
        with agents(base.dsn, 1, "--queue", "idle"), page(base.dsn) as (link, process):
            until(lambda: base.value("select exists (select from qwf.host_metrics)"), "a sample")
            held = f"{queued:,} queued, {finished:,} finished"
            yield from pages(link, paths, calls, held)
            for number in dict.fromkeys((0, 1, most)):
                watched = [paths[n % len(paths)] if n % 2 == 0 else f"/jobs/{ids['job'] + n}"
                           for n in range(number)]  # fmt: skip
                yield load(base, link, process, watched, seconds, held)


def prepare(base: Database, queued: int, finished: int, failed: int, large: int) -> dict[str, Any]:
    """Fill the database; returns ids to look at."""
    for table in ("jobs", "job_attempts"):
        base.conn.execute(f"alter table qwf.{table} set (autovacuum_enabled = off)")
    base.value("select qwf.create_queue('idle')")
    for first in range(0, finished, 500_000):
        base.conn.execute(PAST, (min(500_000, finished - first),))
    base.conn.execute(ATTEMPTS)
    base.conn.execute(FAILED, (failed,))
    register(base, "chain", chain(5))
    base.value("select count(qwf.enqueue_run('chain')) from generate_series(1, 200)")
    ask = {"name": "ask", "steps": [
        {"id": "ok", "kind": "input", "widget": "confirm", "prompt": "Ship it?", "target": "ok"}
    ]}  # fmt: skip
    base.value("select qwf.register_workflow(%s)", json.dumps(ask))
    base.value("select count(qwf.enqueue_run('ask')) from generate_series(1, 200)")
    ids: dict[str, Any] = {"host": os.uname().nodename}
    for name, width in (("run", 98), ("large", large)):
        register(base, name, fan(width))
        ids[name] = base.value("select qwf.enqueue_run(%s)", name)
    base.value("select qwf.tick()")
    ids["question"] = base.value("select max(job_id) from qwf.pending_inputs")
    fill(base, queued)
    ids["job"] = base.value("select max(id) from qwf.jobs") - queued // 2
    base.conn.execute("vacuum analyze")
    return ids


@contextlib.contextmanager
def page(dsn: str) -> Iterator[tuple[str, psutil.Process]]:
    """`qwf web` in a process of its own, and its link."""
    command = "from qwf_agent.cli import main; main()"
    environment = {"QWF_DSN": dsn, "QWF_CONFIG": os.devnull, "PYTHONPATH": str(ROOT / "python")}
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [sys.executable, "-c", command, "web", "--port", "0"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=log, cwd=ROOT, env={**os.environ, **environment},
            preexec_fn=die_with_parent,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            link = process.stdout.readline().decode().strip()
            if not link.startswith("http"):
                log.seek(0)
                raise BenchError(f"qwf web does not start: {log.read().decode()[-1000:]}")
            yield link, psutil.Process(process.pid)
        finally:
            end([process])


def pages(link: str, paths: list[str], calls: int, held: str) -> Iterator[Sample]:
    """How long each page takes, with the part that statements take, and its size."""
    browser = tabs.Browser(link)
    conn = browser.connect()
    taken: dict[str, list[float]] = {path: [] for path in paths}
    sql: dict[str, list[float]] = {path: [] for path in paths}
    sizes: dict[str, dict[str, float]] = {}
    for _ in range(calls + 1):  # the first compiles the template, and is not counted
        began = time.monotonic()
        for path in paths:
            answer = browser.get(path, conn)
            if answer.status != 200:
                raise BenchError(f"{path}: status {answer.status}")
            if path in sizes:
                taken[path].append(answer.seconds)
                sql[path].append(statements_ms(answer) / 1000)
            sizes[path] = {
                "kb": len(answer.body) / 1000, "gzipped_kb": len(gzip.compress(answer.body)) / 1000
            }  # fmt: skip
        time.sleep(max(0.0, began + FRESH_S - time.monotonic()))
    conn.close()
    for template, path in zip(PATHS, paths, strict=True):
        ranks = percentiles(taken[path])
        more = {"p95": ranks["p95"], "sql_p50": percentiles(sql[path])["p50"], **sizes[path]}
        yield Sample("web", f"{template}, {held}", ranks["p50"], "ms", more=more)


def statements_ms(answer: tabs.Answer) -> float:
    """Time of the statements of a page, by its header Server-Timing."""
    return sum(map(float, re.findall(r"dur=([\d.]+)", answer.headers["server-timing"] or "")))


def load(
    base: Database, link: str, process: psutil.Process, paths: list[str], seconds: float, held: str
) -> Sample:  # fmt: skip
    """Cost of open tabs, in percent of a core of Postgres."""
    with tabs.opened(link, paths) as watched:
        time.sleep(min(5.0, seconds))
        fetched = sum(tab.fetches for tab in watched)
        meter, used, ours = Meter(base), sessions_cpu(base), cpu(process)
        began = time.monotonic()
        time.sleep(seconds)
        took = time.monotonic() - began
        more = {
            "page_cpu_percent": 100 * (cpu(process) - ours) / took,
            "page_mb": process.memory_info().rss / 1e6,
            "commits_per_s": meter.commits(took)["commits"],
            "fetches_per_s": (sum(tab.fetches for tab in watched) - fetched) / took,
        }
        percent = 100 * grown(used, sessions_cpu(base)) / took
    return Sample("web", f"{len(paths)} tabs, {held}", percent, "% of a core", more=more)


def sessions_cpu(base: Database) -> dict[int, float]:
    """CPU seconds of each session of the page. Empty if the server is on another machine."""
    found = {}
    for (pid,) in base.conn.execute(SESSIONS).fetchall():
        with contextlib.suppress(psutil.Error):
            found[pid] = cpu(psutil.Process(pid))
    return found


def grown(before: dict[int, float], after: dict[int, float]) -> float:
    """CPU seconds between the two, of sessions that are still there or new."""
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())


def cpu(process: psutil.Process) -> float:
    """CPU seconds of one process."""
    times = process.cpu_times()
    return float(times.user + times.system)
