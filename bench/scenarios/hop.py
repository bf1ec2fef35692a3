"""Cost of one hop of a chain for the server: a report that opens the next node, which the same call
hands out.

Everything runs in one session and within the server, without a protocol between: the figures are
the CPU time of that session's process per hop. With --beside, the SQL of another checkout is
measured in turn with this one, so that both meet the same load of the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import psutil

from bench.measure import fill
from bench.samples import Sample
from bench.scenario import scenario
from bench.scenarios.dag import Nodes, chain, register
from bench.server import BenchError, Database, Server
from qwf_agent import migrate

# Each call reports the job that the one before has handed out; the last job is only reported.
HOPS = """
create procedure public.hops(p_hops int) language plpgsql as $$
declare
  v_reports jsonb := '[]';
begin
  for v_hop in 1..p_hops loop
    select jsonb_agg(jsonb_build_object(
      'job_id', c.job_id, 'token', c.token, 'outcome', 'completed', 'output', '{"x": 1}'::jsonb,
      'detail', jsonb_build_object('cpu_seconds', 0.0001, 'max_rss_bytes', 12345678)))
      into v_reports
    from qwf.finish_and_claim(v_reports, 'default', 'hops') c where c.verdict is null;
    commit;
    if v_reports is null then
      raise exception 'no job is left after % hops', v_hop;
    end if;
  end loop;
  perform v.verdict from qwf.finish_many(v_reports) v;
  commit;
end $$
"""
# What the functions look for: a database without them would be cheaper than those in use.
USED = (
    "select qwf.create_limit('api', 2)",
    "select qwf.create_queue('volatile', keep_completed => false)",
    "insert into qwf.cancel_requests (job_id) values (-1)",
)


@dataclass
class Tree:
    """The SQL of a checkout."""

    name: str
    plan: Path | None = None

    def deploy(self, dsn: str) -> None:
        migrate.deploy(dsn, plan=self.plan)


@scenario("hop", rounds=5)
@click.option("--hops", default=2_000, show_default=True, help="Hops of each measurement.")
@click.option("--length", default=100, show_default=True, help="Nodes of a chain.")
@click.option(
    "--beside", "other", type=click.Path(exists=True, path_type=Path), metavar="PLAN",
    help="The sql/sqitch.plan of another checkout, measured in turn.",
)  # fmt: skip
def hop(server: Server, hops: int, length: int, other: Path | None) -> Iterator[Sample]:
    """CPU time of one hop of a chain: finish_and_claim that opens the node it hands out."""
    trees = [Tree("qwf"), *([Tree("other checkout", other)] if other else [])]
    for what, nodes in (
        ("nodes with references", chain(length)),
        ("nodes without references", [without_inputs(node) for node in chain(length)]),
        ("standalone jobs", None),
    ):
        for tree in trees:
            # the tests give the server a template of migrate.deploy
            with server.database(tree.deploy if tree.plan else migrate.deploy) as base:
                took = cpu_us(base, hops, nodes)
            yield Sample("hop", f"finish_and_claim, {what}", took, "us", system=tree.name)


def without_inputs(node: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key != "inputs"}


def cpu_us(base: Database, hops: int, nodes: Nodes | None) -> float:
    """Microseconds of CPU time that a session needs per hop, after some that do not count."""
    unmeasured = min(hops, 100)
    for statement in USED:
        base.conn.execute(statement)
    if nodes is None:
        fill(base, hops + unmeasured)
    else:
        register(base, "chain", nodes)
        runs = (hops + unmeasured) // len(nodes) + 1
        base.value("select count(qwf.enqueue_run('chain')) from generate_series(1, %s)", runs)
    base.conn.execute("set synchronous_commit = off")
    base.conn.execute(HOPS)
    process = psutil.Process(base.conn.info.backend_pid)
    base.conn.execute(f"call public.hops({unmeasured})")
    before = sum(process.cpu_times()[:2])
    base.conn.execute(f"call public.hops({hops})")
    took = sum(process.cpu_times()[:2]) - before
    if not took:
        raise BenchError("too few hops: CPU time is read in hundredths of a second")
    return 1e6 * took / hops
