"""`qwf metrics`: metrics of the whole fleet for Prometheus, read from the database on scrape."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click
import psycopg
from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from qwf_agent import config
from qwf_agent.cli import addresses, errors
from qwf_agent.look import connection, standby
from qwf_agent.look.connection import Connection
from qwf_agent.look.draw.visible import visible

SEES_OTHERS = "select pg_has_role(current_user, 'pg_read_all_stats', 'usage') as all_of_them"
STATEMENT_TIMEOUT = "10s"  # so that slow scrapes do not pile up


@dataclass(frozen=True)
class ColumnMetric:
    """A metric and the column that holds it; a counter's name gets _total."""

    name: str
    column: str
    about: str
    counter: bool = False


@dataclass(frozen=True)
class MetricGroup:
    """Metrics that one query returns, with one sample per row. `on_standby`: whether a standby
    knows them; what it cannot know are unlogged tables and what vacuum sees. `of_others`: whether
    the server shows its rows only to members of pg_read_all_stats, and others would get zeros."""

    query: Any
    labels: tuple[str, ...]
    metrics: tuple[ColumnMetric, ...]
    on_standby: bool = True
    of_others: bool = False


def _number(name: str) -> str:
    """A reading of a card in SQL, to millionths, so that a float8 can hold it: null if a worker has
    sent no plain number."""
    return f"round(jsonb_path_query_first(g, '$.{name} ? (@ >= 0 && @ < 1e15)')::numeric, 6)"


GROUPS = (
    MetricGroup(
        "select queue, queued, scheduled from qwf.count_jobs(100000)",
        ("queue",),
        (
            ColumnMetric(
                "qwf_queued_jobs",
                "queued",
                "Jobs a worker could take now; estimated from 100,000 on.",
            ),
            ColumnMetric(
                "qwf_scheduled_jobs",
                "scheduled",
                "Jobs whose start time is still to come; counted to 100,000 in all queues.",
            ),
        ),
    ),
    MetricGroup(
        "select queue, running, slots, paused::int as paused,"
        " coalesce(date_part('epoch', oldest_wait), 0) as oldest,"
        " coalesce(date_part('epoch', head_wait), 0) as head from qwf.queue_overview",
        ("queue",),
        (
            ColumnMetric("qwf_running_jobs", "running", "Jobs that are running."),
            ColumnMetric(
                "qwf_queue_oldest_wait_seconds",
                "oldest",
                "How long the first job of some priority or limit has waited, the longest.",
            ),
            ColumnMetric(
                "qwf_queue_head_wait_seconds",
                "head",
                "How long the next job in claim order has waited.",
            ),
            ColumnMetric("qwf_queue_paused", "paused", "1 while the queue is paused."),
            ColumnMetric("qwf_queue_slots", "slots", "Bodies its live workers can run at once."),
        ),
    ),
    MetricGroup(
        "select name as queue, date_part('epoch', qwf.now() - paused_at) as age from qwf.queues"
        " where paused",
        ("queue",),
        (ColumnMetric("qwf_queue_paused_seconds", "age", "How long the queue has been paused."),),
    ),
    MetricGroup(
        "select c.host_label as host, c.queue, date_part('epoch', qwf.now() - c.updated_at) as age"
        " from qwf.worker_controls c"
        " join qwf.switched_off o on o.host = c.host_label and o.queue = c.queue",
        ("host", "queue"),
        (ColumnMetric("qwf_off_seconds", "age", "Time since the order to be off last changed."),),
    ),
    MetricGroup(
        "select qwf.version() as version, 1 as one",
        ("version",),
        (ColumnMetric("qwf_schema_info", "one", "1 for the version of the schema."),),
    ),
    MetricGroup(
        "select coalesce(version, '') as version, count(*) as count from qwf.worker_overview"
        " where state not in ('dead', 'stopped') group by version",
        ("version",),
        (ColumnMetric("qwf_worker_versions", "count", "Live workers, by version of the agent."),),
    ),
    MetricGroup(
        "select w.host, w.out_root, min(jsonb_path_query_first("
        "w.stats, '$.out_free_bytes ? (@ >= 0 && @ < 1e18)')::numeric) as free"
        " from qwf.workers w join qwf.worker_overview f on f.worker = w.id"
        " where f.state not in ('dead', 'stopped') and w.out_root is not null"
        " group by w.host, w.out_root",
        ("host", "out_root"),
        (ColumnMetric("qwf_out_root_free_bytes", "free", "What bodies may still write there."),),
    ),
    MetricGroup(
        "select host, queue, state, count(*) as count from qwf.worker_overview"
        " where state <> 'stopped'"
        " group by host, queue, state",
        ("host", "queue", "state"),
        (ColumnMetric("qwf_workers", "count", "Workers seen in the last day, by state."),),
    ),
    MetricGroup(
        "select queue, task, outcome, count, wait_seconds as wait, run_seconds as run"
        " from qwf.attempt_totals",
        ("queue", "task", "outcome"),
        (
            ColumnMetric("qwf_attempts", "count", "Attempts that ended, by outcome.", counter=True),
            ColumnMetric(
                "qwf_attempt_wait_seconds", "wait", "Sum of their waiting times.", counter=True
            ),
            ColumnMetric("qwf_attempt_run_seconds", "run", "Sum of their run times.", counter=True),
        ),
    ),
    MetricGroup(
        "select s.status::text, count(r.id) as count"
        " from unnest(enum_range(null::qwf.run_status)) s(status)"
        " left join qwf.runs r on r.status = s.status group by s.status",
        ("status",),
        (ColumnMetric("qwf_runs", "count", "Runs in the database, by status."),),
    ),
    MetricGroup(
        "select count(*) as count, coalesce(max(date_part('epoch', age)), 0) as oldest"
        " from qwf.pending_inputs",
        (),
        (
            ColumnMetric("qwf_pending_inputs", "count", "Questions that wait for a person."),
            ColumnMetric(
                "qwf_pending_input_oldest_seconds", "oldest", "Age of the oldest question."
            ),
        ),
    ),
    MetricGroup(
        "select count(*) filter (where poisoned_at is null) as waiting,"
        " count(poisoned_at) as poisoned,"
        " coalesce(date_part('epoch', qwf.now() - min(created_at)"
        " filter (where poisoned_at is null)), 0) as oldest from qwf.outbox",
        (),
        (
            ColumnMetric("qwf_outbox_events", "waiting", "Events not applied yet."),
            ColumnMetric("qwf_outbox_oldest_seconds", "oldest", "Age of the oldest of them."),
            ColumnMetric("qwf_outbox_poisoned", "poisoned", "Events given up on."),
        ),
    ),
    MetricGroup(
        "select coalesce(date_part('epoch', qwf.now()) - nullif(last_value, 0) / 1000.0,"
        " 'infinity')::float8 as silent from qwf.last_tick",
        (),
        (
            ColumnMetric(
                "qwf_tick_age_seconds",
                "silent",
                "Time since the last tick; +Inf if there was none.",
            ),
        ),
    ),
    MetricGroup(
        "select count(*) as late from qwf.schedules where next_at < qwf.now() - interval '1 min'",
        (),
        (
            ColumnMetric(
                "qwf_schedules_late", "late", "Schedules that are more than a minute late."
            ),
        ),
    ),
    MetricGroup(
        "select name, date_part('epoch', last_success_at) as at,"
        " date_part('epoch', next_at) as next from qwf.schedule_overview",
        ("name",),
        (
            ColumnMetric(
                "qwf_schedule_last_success_timestamp_seconds",
                "at",
                "When the newest job or run of the schedule that completed has ended.",
            ),
            ColumnMetric(
                "qwf_schedule_next_timestamp_seconds", "next", "When the schedule is due next."
            ),
        ),
    ),
    MetricGroup(
        'select l.name as "limit", l.max_running as max, count(s.job_id) as held, l.starts,'
        " case when l.starts > 0 then (select count(*) from qwf.limit_starts t"
        " where t.limit_name = l.name and t.used_at > qwf.now() - l.per and t.place <= l.starts)"
        " end as started"
        " from qwf.limits l left join qwf.limit_slots s on s.limit_name = l.name group by l.name",
        ("limit",),
        (
            ColumnMetric("qwf_limit_max_running", "max", "Jobs of the limit that may run at once."),
            ColumnMetric("qwf_limit_running", "held", "Running jobs of the limit."),
            ColumnMetric(
                "qwf_limit_starts", "starts", "Jobs of the limit that may start in its period."
            ),
            ColumnMetric(
                "qwf_limit_started", "started", "Jobs of the limit that started in its last period."
            ),
        ),
    ),
    MetricGroup(
        "select host, queue, server, (state = 'ready')::int as up, inflight, starts, crashes,"
        " load_s as load, tokens, prompt_tokens from qwf.server_overview",
        ("host", "queue", "server"),
        (
            ColumnMetric("qwf_server_up", "up", "1 while the model server is ready."),
            ColumnMetric("qwf_server_inflight", "inflight", "Jobs that use it now."),
            ColumnMetric(
                "qwf_server_starts", "starts", "Times its agent has started it.", counter=True
            ),
            ColumnMetric(
                "qwf_server_crashes", "crashes", "Times it ended by itself.", counter=True
            ),
            ColumnMetric("qwf_server_load_seconds", "load", "How long its last start took."),
            ColumnMetric(
                "qwf_server_tokens", "tokens", "Tokens generated for completed jobs.", counter=True
            ),
            ColumnMetric(
                "qwf_server_prompt_tokens",
                "prompt_tokens",
                "Tokens of their prompts.",
                counter=True,
            ),
        ),
    ),
    MetricGroup(
        'select relname as "table", n_dead_tup as dead, n_live_tup as live,'
        " pg_total_relation_size(relid) as bytes"
        " from pg_stat_user_tables where schemaname = 'qwf'",
        ("table",),
        (
            ColumnMetric("qwf_dead_rows", "dead", "Rows that vacuum has not removed yet."),
            ColumnMetric("qwf_live_rows", "live", "Rows, by the server's statistics."),
            ColumnMetric("qwf_table_bytes", "bytes", "Size on disk, with indexes."),
        ),
        on_standby=False,
    ),
    MetricGroup(
        "select coalesce(max(date_part('epoch', clock_timestamp() - xact_start)), 0) as age"
        " from pg_stat_activity where backend_xmin is not null and backend_type = 'client backend'"
        " and pid <> pg_backend_pid()",
        (),
        (
            ColumnMetric(
                "qwf_oldest_snapshot_seconds", "age", "Age of the oldest open transaction."
            ),
        ),
        on_standby=False,
        of_others=True,
    ),
    MetricGroup(
        "select greatest(age(datfrozenxid), mxid_age(datminmxid)) as age from pg_database"
        " where datname = current_database()",
        (),
        (
            ColumnMetric(
                "qwf_oldest_xid_age",
                "age",
                "Transaction ids since the oldest one that is not frozen; the server stops at"
                " 2,147,483,647.",
            ),
        ),
    ),
    MetricGroup(
        "select distinct on (host) host, cpu_percent / 100 as cpu,"
        " ram_used_mb::bigint << 20 as used, ram_total_mb::bigint << 20 as total,"
        " swap_used_mb::bigint << 20 as swap from qwf.host_metrics"
        " where sampled_at > qwf.now() - interval '1 min' order by host, sampled_at desc",
        ("host",),
        (
            ColumnMetric("qwf_host_cpu_ratio", "cpu", "CPU use of the box, 0 to 1."),
            ColumnMetric("qwf_host_memory_used_bytes", "used", "Memory in use."),
            ColumnMetric("qwf_host_memory_bytes", "total", "Memory of the box."),
            ColumnMetric("qwf_host_swap_used_bytes", "swap", "Swap in use."),
        ),
        on_standby=False,
    ),
    MetricGroup(
        f"select h.host, g ->> 'id' as gpu, {_number('use_pct')} / 100 as use,"  # noqa: S608
        f" {_number('vram_used_mb')} * 1048576 as used,"
        f" {_number('vram_total_mb')} * 1048576 as total"
        " from (select distinct on (host) host, gpus from qwf.host_metrics"
        " where sampled_at > qwf.now() - interval '1 min' order by host, sampled_at desc) h"
        " cross join lateral jsonb_array_elements(h.gpus) g",
        ("host", "gpu"),
        (
            ColumnMetric("qwf_gpu_ratio", "use", "Use of the card, 0 to 1."),
            ColumnMetric("qwf_gpu_memory_used_bytes", "used", "Memory of the card in use."),
            ColumnMetric("qwf_gpu_memory_bytes", "total", "Memory of the card."),
        ),
        on_standby=False,
    ),
)


class FleetCollector(Collector):
    """Queries the database at every scrape, one at a time. Without a database, qwf_up is 0."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._conn: Connection | None = None
        self.failure: psycopg.Error | None = None  # of a query of the last scrape
        self.unseen: list[str] = []  # metrics that the login may not see
        self._one_at_a_time = threading.Lock()

    def collect(self) -> Iterable[Metric]:
        """Every metric. A query that fails is counted, and its metrics are left out."""
        with self._one_at_a_time:
            return list(self._read())

    def describe(self) -> Iterable[Metric]:
        """Nothing, so that registering does not query the database."""
        return []

    def _read(self) -> Iterator[Metric]:
        failed, self.failure, self.unseen = 0, None, []
        try:
            if self._conn is None or self._conn.closed:
                self._conn = self._connect()
            found = standby.find(self._conn)
            yield GaugeMetricFamily("qwf_standby", "1 if a standby answered.", found is not None)
            about = "How old the figures may be; 0 on a primary, +Inf if that is not known."
            behind = 0 if found is None else found.behind_s
            yield GaugeMetricFamily("qwf_standby_behind_seconds", about, behind)
            (sees,) = connection.many(self._conn, SEES_OTHERS)
            for group in GROUPS:
                if found is not None and not group.on_standby:
                    continue
                if group.of_others and not sees["all_of_them"]:
                    failed += 1
                    self.unseen += [metric.name for metric in group.metrics]
                    continue
                try:
                    yield from _metrics(group, connection.many(self._conn, group.query))
                except psycopg.Error as error:
                    if self._conn.closed:
                        raise
                    failed, self.failure = failed + 1, error
            up = 1
        except (psycopg.Error, config.ConfigError):
            self._conn, up = None, 0
        yield GaugeMetricFamily("qwf_up", "1 while the database answers.", up)
        about = "Queries that failed in this scrape, or that this login may not make."
        yield GaugeMetricFamily("qwf_unreadable", about, failed)


def _metrics(group: MetricGroup, rows: Sequence[dict[str, Any]]) -> Iterator[Metric]:
    for metric in group.metrics:
        family = (CounterMetricFamily if metric.counter else GaugeMetricFamily)(
            metric.name, metric.about, labels=group.labels
        )
        for row in rows:
            if row[metric.column] is not None:
                labels = [visible(str(row[label])) for label in group.labels]
                family.add_metric(labels, float(row[metric.column]))
        yield family


@click.command()
@click.option(
    "--listen",
    metavar="[ADDRESS]:PORT",
    help="Serve over HTTP until interrupted. ADDRESS defaults to 127.0.0.1; 0.0.0.0: for all.",
)
@addresses.dsn_to_read_option
def metrics(listen: str | None, dsn: str | None) -> None:
    """Print or serve metrics of the fleet for Prometheus.

    One server is enough for the whole fleet: everything is read from the database. It asks for no
    password, and its figures name hosts, queues and tasks. A standby (QWF_READ_DSN) does not know
    the load of boxes, the sizes of tables and old transactions: for these, name the primary.

    \b
    Example:  qwf metrics | grep qwf_queue
              qwf metrics --listen :9187          (for this box only)
              qwf metrics --listen 0.0.0.0:9187   (for every box that can connect)
    """
    address = config.find_dsn_to_read(dsn)

    def connect() -> Connection:
        conn = connection.connect(address)
        conn.execute("select set_config('statement_timeout', %s, false)", (STATEMENT_TIMEOUT,))
        return conn

    registry = CollectorRegistry()
    collector = FleetCollector(connect)
    registry.register(collector)
    if listen is None:
        connect().close()  # without a database, fail as every command does
        click.echo(generate_latest(registry).decode(), nl=False)
        if collector.failure:  # so that figures that are missing do not pass for all
            raise collector.failure
        if collector.unseen:
            errors.fail(
                f"this login may not read {', '.join(collector.unseen)}",
                "let an administrator run: grant pg_read_all_stats to the login of the metrics",
            )
        return
    host, port = _split(listen)
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        errors.fail(f"cannot listen on {listen}: {error.strerror or error}")
    click.echo(f"http://{host}:{server.server_port}/metrics", err=True)
    try:
        thread.join()
    finally:
        server.shutdown()


def _split(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise click.BadParameter(f"--listen {listen}: write ADDRESS:PORT, like 127.0.0.1:9187")
    return host.strip("[]") or "127.0.0.1", int(port)
