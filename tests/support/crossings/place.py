"""A database whose clock a session sets, and that is as new in a few milliseconds."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import psycopg

from support.crossings.options import LIMITS
from support.servers import ROOT

START = datetime(2030, 1, 1, tzinfo=timezone.utc)
CLOCK = """
create or replace function qwf.now() returns timestamptz language sql volatile
as $$ select pg_catalog.current_setting('qwf_test.now')::pg_catalog.timestamptz $$;
create schema if not exists qwf_test;
create function qwf_test.token(p_job bigint, p_attempt int) returns uuid language sql as $$
  select j.token from qwf.jobs j
  where j.id = p_job and j.attempt = p_attempt and j.token is not null
  union all
  select a.token from qwf.job_attempts a where a.job_id = p_job and a.attempt = p_attempt
$$;
"""
FIRST = [
    "select qwf.create_queue('q')",
    *(
        f"select qwf.create_limit('{name}', {most}"
        + (f", {starts}, '1 min'" if starts else "")
        + (", keyed => true)" if keyed else ")")
        for name, (most, starts, keyed) in LIMITS.items()
    ),
]
KEPT = ROOT / "tests" / "support" / "kept.sql"
AS_NEW = """
set session_replication_role = replica;
select kept.fill();
select setval(s.name, s.value, s.called) from kept.sequences s;
reset all;
set client_min_messages = error;
select setseed(0);
"""
VACUUM = "vacuum qwf.jobs, qwf.runs, qwf.job_attempts, qwf.graphs, qwf.graph_nodes, _qwf.event_log"
OFTEN = 40  # histories, each of which leaves dead rows behind

IDLE = ("set_config", "qwf.tick(", "qwf.claim(")


def prepare(dsn: str) -> None:
    """Give a fresh database the clock, the limits, and what makes it as new."""
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute(CLOCK.encode())
        session.execute(set_clock(START).encode())
        for statement in FIRST:
            session.execute(statement.encode())
        session.execute(KEPT.read_bytes())


def set_clock(now: datetime) -> str:
    return f"select set_config('qwf_test.now', '{now.isoformat()}', false)"


class Broken(Exception):
    """A statement failed with an error that is not one of qwf."""


class Place:
    """A session on such a database, its time, and what was said to it since it was new."""

    def __init__(self, dsn: str) -> None:
        self.conn: psycopg.Connection[Any] = psycopg.connect(dsn, autocommit=True)
        self.said: list[str] = []
        self.calls = self.histories = 0
        self.now = START

    def as_new(self) -> None:
        self.histories += 1
        if self.histories % OFTEN == 0:
            self.conn.execute(VACUUM.encode())
        self.conn.execute(AS_NEW.encode())
        self.said, self.now = [], START
        self.ask(set_clock(START))

    def ask(self, statement: str, *, silent: bool = False) -> list[Any]:
        """The rows of a statement. What is refused with a code of qwf gives none."""
        self.calls += 1
        if not silent:
            self.said.append(statement)
        try:
            cursor = self.conn.execute(statement.encode())
        except psycopg.Error as error:
            if not (error.sqlstate or "").startswith("QW"):
                raise Broken(f"{statement}: {error}") from error
            if not silent:
                self.said[-1] += f"  /* {error.sqlstate} {str(error).splitlines()[0]} */"
            return []
        return cursor.fetchall() if cursor.description else []

    def look(self, query: str) -> list[Any]:
        """The rows of a query that belongs to the questions, and is planned once."""
        return self.conn.execute(query.encode(), prepare=True).fetchall()

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        self.ask(set_clock(self.now))

    def close(self) -> None:
        self.conn.close()


def script(said: list[str]) -> str:
    """The statements, for psql and a fresh database with the schema in it. Of the months in which
    nothing more comes it has the first minute."""
    last = max(
        (number for number, line in enumerate(said) if not any(one in line for one in IDLE)),
        default=0,
    )
    lines = [*CLOCK.strip().split(";\n"), set_clock(START), *FIRST, *said[: last + 9]]
    return "\n".join(f"{line.rstrip(';')};" for line in lines if line) + "\n"
