"""Many sessions use the keys of one limit at once: producers and workers whose transactions stay
open, roll back or die, and people who cancel, move, change the key and lower."""

from __future__ import annotations

import contextlib
import json
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from support.interleave import Race
from support.thorough import THOROUGH

SECONDS = 6 if THOROUGH else 4
MOST = 3
QUEUES = ("cpu", "gpu")
ABOVE = """
select limit_by, count(*) from qwf.jobs
where status = 'running' and limit_by is not null group by 1 having count(*) > %s
"""
LEFT = "select count(*) from qwf.jobs where status in ('queued', 'running')"
Connect = Callable[[], psycopg.Connection[Any]]
Role = Callable[[random.Random, psycopg.Connection[Any]], None]


class Stress:
    """Notes that the sessions share."""

    def __init__(self, connect: Connect) -> None:
        self.connect = connect
        self.produces = True
        self.works = True
        self.ended = 0
        self.errors: list[str] = []

    def run(
        self, role: Callable[[random.Random, psycopg.Connection[Any]], None], seed: int
    ) -> None:
        """Play a role until it is over; a session that was killed is opened again."""
        draw = random.Random(seed)
        while self.works if role == self.work else self.produces:
            with contextlib.suppress(psycopg.OperationalError), self.connect() as conn:
                conn.autocommit = False
                try:
                    while self.works if role == self.work else self.produces:
                        role(draw, conn)
                except psycopg.OperationalError:
                    raise
                except psycopg.Error as error:
                    self.errors.append(f"{role.__name__}: {error!r}")

    def kill(self, conn: psycopg.Connection[Any]) -> None:
        with self.connect() as other:
            other.execute("select pg_terminate_backend(%s)", [conn.info.backend_pid])

    def produce(self, draw: random.Random, conn: psycopg.Connection[Any]) -> None:
        for _ in range(draw.choice([1, 1, 3, 12])):
            key = f"customer:{min(int(draw.paretovariate(0.6)), 100)}"
            conn.execute(
                "select qwf.enqueue('t', queue => %s, priority => %s, limit_by => %s)",
                [draw.choice(QUEUES), draw.choice([50, 100, 100]),
                 None if draw.random() < 0.1 else key],
            )  # fmt: skip
        if draw.random() < 0.1:
            time.sleep(draw.random() * 0.3)
        ends = draw.random()
        if ends < 0.03:
            self.kill(conn)
        conn.rollback() if ends < 0.08 else conn.commit()
        time.sleep(draw.random() * 0.05)

    def work(self, draw: random.Random, conn: psycopg.Connection[Any]) -> None:
        got = conn.execute(
            "select job_id, token::text from qwf.claim(%s, %s, %s)",
            [draw.choice(QUEUES), f"w{threading.get_ident()}", draw.choice([1, 3, 10])],
        ).fetchall()
        ends = draw.random()
        if got and ends < 0.05:
            time.sleep(0.2)
        if ends > 0.98:
            conn.rollback()
            return
        if got and ends > 0.96:
            self.kill(conn)
        conn.commit()
        reports = [
            {"job_id": job, "token": token,
             "outcome": "released" if draw.random() < 0.07 else "completed"}
            for job, token in got
        ]  # fmt: skip
        if not got:
            time.sleep(0.02)
        answers = conn.execute(
            "select verdict from qwf.finish_many(%s)", [json.dumps(reports)]
        ).fetchall()
        conn.commit()
        self.ended += sum(
            r["outcome"] == "completed" and a == ("ok",)
            for r, a in zip(reports, answers, strict=True)
        )

    def change(self, draw: random.Random, conn: psycopg.Connection[Any]) -> None:
        some = conn.execute(
            "select array_agg(id) from (select id from qwf.jobs where status = 'queued'"
            " order by random() limit 3) j"
        ).fetchone()
        kind = draw.random()
        if kind < 0.2:
            conn.execute("select qwf.create_limit('customer', %s)", [draw.randint(1, MOST)])
        elif some and some[0] and kind < 0.4:
            conn.execute("select * from qwf.cancel_jobs(%s)", [some[0][:1]])
        elif some and some[0]:
            conn.execute(
                "select * from qwf.change_jobs(%s, priority => %s, queue => %s, limit_by => %s)",
                [some[0], draw.choice([50, 100]), draw.choice(QUEUES),
                 draw.choice([None, "", "customer:1", f"customer:{draw.randint(1, 100)}"])],
            )  # fmt: skip
        conn.commit()
        time.sleep(0.05)


@pytest.mark.parametrize("seed", [1])
def test_no_key_is_above_its_limit_and_no_job_is_left(
    race: Race, connect: Connect, seed: int
) -> None:
    race.rows("select qwf.create_limit('customer', %s, keyed => true)", MOST)
    stress = Stress(connect)
    roles = [stress.produce] * 2 + [stress.work] * 4 + [stress.change]
    threads = [
        threading.Thread(target=stress.run, args=(role, 100 * seed + n))
        for n, role in enumerate(roles)
    ]
    for thread in threads:
        thread.start()
    try:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            assert race.rows(ABOVE, MOST) == []
            time.sleep(0.03)
        stress.produces = False
        deadline = time.monotonic() + 60
        race.rows("select qwf.create_limit('customer', %s)", MOST)
        while race.one(LEFT):
            assert time.monotonic() < deadline, race.rows(
                "select status, limit_by, count(*) from qwf.jobs group by 1, 2"
            )
            assert race.rows(ABOVE, MOST) == []
            time.sleep(0.1)
            race.rows(  # of claims that were killed after their commit
                "update qwf.jobs set lease_expires_at = qwf.now() where status = 'running'"
                " and claimed_at < qwf.now() - interval '3 s'"
            )
            race.one("select qwf.tick()")
    finally:
        stress.produces = stress.works = False
        for thread in threads:
            thread.join()
    assert stress.errors == []
    assert stress.ended > 50
    race.healthy()
