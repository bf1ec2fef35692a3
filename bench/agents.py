"""Drain and latency through real agents, as the database saw them: committed ends, by its clock.

    python bench/agents.py --dsn URL [--jobs 30000] [--agents 1] [--rounds 3]

The database has to be deployed and otherwise idle. Prints jobs/s of each round, then how long it
takes an idle agent from an enqueue to the claim.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import psycopg

HERE = Path(__file__).resolve().parent


@contextlib.contextmanager
def agents(dsn: str, number: int) -> Iterator[None]:
    command = [sys.executable, "-m", "qwf_agent", "--app", "noop", "--dsn", dsn]
    started = [subprocess.Popen(command, cwd=HERE) for _ in range(number)]
    try:
        yield
    finally:
        for agent in started:
            agent.terminate()
        for agent in started:
            agent.wait()


def value(conn: psycopg.Connection[Any], query: str, *params: Any) -> Any:
    row = conn.execute(query, params).fetchone()  # type: ignore[arg-type]
    return row[0] if row else None


def drain(conn: psycopg.Connection[Any], dsn: str, jobs: int, number: int) -> float:
    """Jobs per second from the first claim to the last end."""
    last = value(conn, "select coalesce(max(id), 0) from qwf.jobs")
    value(
        conn,
        "select count(*) from qwf.enqueue_many((select jsonb_agg(jsonb_build_object("
        "'task', 'noop')) from generate_series(1, %s)))",
        jobs,
    )
    with agents(dsn, number):
        while value(conn, "select exists (select from qwf.jobs where finished_at is null)"):
            time.sleep(0.1)
    took = value(
        conn,
        "select extract(epoch from max(finished_at) - min(started_at)) from qwf.jobs where id > %s",
        last,
    )
    return jobs / float(took)


def latencies(conn: psycopg.Connection[Any], dsn: str, samples: int = 100) -> list[float]:
    """Milliseconds from enqueue to claim, sorted; the agent is asleep each time."""
    found = []
    with agents(dsn, 1):
        time.sleep(3)
        for _ in range(samples):
            job = value(conn, "select qwf.enqueue('noop')")
            time.sleep(0.15)
            query = "select extract(epoch from claimed_at - created_at) from qwf.jobs where id = %s"
            while (seconds := value(conn, query, job)) is None:
                time.sleep(0.01)
            found.append(float(seconds) * 1000)
    return sorted(found)


@click.command()
@click.option("--dsn", required=True)
@click.option("--jobs", default=30_000, show_default=True)
@click.option("--agents", "number", default=1, show_default=True)
@click.option("--rounds", default=3, show_default=True)
def main(dsn: str, jobs: int, number: int, rounds: int) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        for _ in range(rounds):
            rate = drain(conn, dsn, jobs, number)
            click.echo(f"drain, {number} agents: {rate:,.0f} jobs/s")
        found = latencies(conn, dsn)
        ranks = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 0.999}
        said = ", ".join(f"{name} {found[int(r * len(found))]:.1f}" for name, r in ranks.items())
        click.echo(f"enqueue to claim, ms: {said}")


if __name__ == "__main__":
    main()
