"""Cost of a claim and a finish for the server, beside the least that can write the same rows.

Both run in one session and within the server, without a protocol between: the figures are the CPU
time of that session's process per job.
"""

from __future__ import annotations

from collections.abc import Iterator

import click
import psutil

from bench.measure import fill
from bench.samples import Sample
from bench.scenario import scenario
from bench.server import Database, Server

# The same rows, indexes and history as an ordinary job, and nothing decided.
PLAIN = """
create procedure public.plain(p_batch int) language plpgsql as $$
declare
  v_rows tid[];
  v_now timestamptz;
begin
  loop
    v_now := clock_timestamp();
    v_rows := array(
      select j.ctid from qwf.jobs j
      where j.queue = 'default' and j.status = 'queued' and j.limit_by is null
      order by j.run_next desc, j.priority, j.position
      limit p_batch for no key update skip locked);
    exit when v_rows = '{}';
    with claimed as (
      update qwf.jobs j set
        status = 'running', token = gen_random_uuid(), lease_expires_at = v_now + interval '1 min',
        attempt = j.attempt + 1, claimed_by = 'plain', claimed_at = v_now, started_at = v_now
      from unnest(v_rows) r where j.ctid = r
      returning j.ctid
    )
    select array_agg(c.ctid) into v_rows from claimed c;
    commit;
    v_now := clock_timestamp();
    with ended as (
      update qwf.jobs j set
        status = 'completed', output = '{}', finished_at = v_now, token = null,
        lease_expires_at = null
      from unnest(v_rows) r
      where j.ctid = r
      returning j.id, j.attempt, j.claimed_by, j.queued_at, j.claimed_at
    )
    insert into qwf.job_attempts (
      job_id, attempt, token, worker, queued_at, started_at, finished_at, outcome, detail)
    select e.id, e.attempt, '00000000-0000-0000-0000-000000000000', e.claimed_by, e.queued_at,
      e.claimed_at, v_now, 'completed', '{"max_rss_bytes": 12345678, "cpu_seconds": 0.0001}'
    from ended e;
    commit;
  end loop;
end $$
"""
# What an agent's session does: the jobs come out, and reports as an agent writes them go in.
CALLS = """
create procedure public.calls(p_batch int) language plpgsql as $$
declare
  v_reports jsonb;
begin
  loop
    select jsonb_agg(jsonb_build_object(
      'job_id', c.job_id, 'token', c.token, 'outcome', 'completed', 'output', '{}'::jsonb,
      'detail', jsonb_build_object('cpu_seconds', 0.0001, 'max_rss_bytes', 12345678)))
      into v_reports
    from qwf.claim('default', 'calls', p_batch) c;
    commit;
    exit when v_reports is null;
    perform v.verdict from qwf.finish_many(v_reports) v;
    commit;
  end loop;
end $$
"""
SETTINGS = ("enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin",
            "enable_sort", "jit")  # fmt: skip


@scenario("plain")
@click.option("--jobs", default=20_000, show_default=True, help="A fifth for batches below 10.")
@click.option(
    "--batch", "batches", multiple=True, type=int, default=(1, 10, 100, 500), show_default=True
)
def plain(server: Server, jobs: int, batches: tuple[int, ...]) -> Iterator[Sample]:
    """Claim and finish jobs in one session, by the API and by three plain statements."""
    for batch in batches:
        some = jobs if batch >= 10 else jobs // 5
        took = {}
        for name in ("plain", "calls"):
            with server.database() as base:
                fill(base, 2 * some)
                took[name] = _cpu_us(base, name, batch) / (2 * some)
        yield Sample("plain", f"plain statements, batch {batch}", took["plain"], "us")
        more = {"times_plain": took["calls"] / took["plain"]}
        yield Sample(
            "plain", f"claim and finish_many, batch {batch}", took["calls"], "us", more=more
        )


def _cpu_us(base: Database, name: str, batch: int) -> float:
    """Microseconds of CPU time that a session needs to drain the queue."""
    base.conn.execute("set synchronous_commit = off")
    if name == "plain":
        base.conn.execute("set plan_cache_mode = force_generic_plan")
        for setting in SETTINGS:
            base.conn.execute(f"set {setting} = off")
    base.conn.execute(PLAIN if name == "plain" else CALLS)
    process = psutil.Process(base.conn.info.backend_pid)
    before = sum(process.cpu_times()[:2])
    base.conn.execute(f"call public.{name}({int(batch)})")
    return 1e6 * (sum(process.cpu_times()[:2]) - before)
