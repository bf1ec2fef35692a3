"""Limits for each customer, with real agents."""

from __future__ import annotations

import signal

from support.harness import Database, StartAgent, until
from support.thorough import THOROUGH

CUSTOMERS, EACH = 10_000 if THOROUGH else 300, 5
AHEAD = 1_000_000 if THOROUGH else 6_000  # jobs of acme before the one of bob
OF_ACME = "from qwf.jobs where limit_by = 'customer:acme'"
MANY = """
select count(*) from qwf.enqueue_many((
  select jsonb_agg(jsonb_build_object('task', 'noop', 'limit_by', 'customer:' || c) order by c)
  from unnest(%s::text[]) c, generate_series(1, %s)))
"""


def limit(base: Database, most: int) -> None:
    base.one("select qwf.create_limit('customer', %s, keyed => true)", most)


def test_the_last_of_many_customers_starts_within_a_round(
    base: Database, start: StartAgent
) -> None:
    """The jobs lie customer by customer: first come, first served would serve it last."""
    limit(base, 2)
    names = [f"{number:03}" for number in range(CUSTOMERS)]
    base.one(MANY, names, EACH)
    start("--app", "bodies", "--slots", "4")
    open_jobs = "select exists (select from qwf.jobs where finished_at is null)"
    until(lambda: not base.one(open_jobs), seconds=600)
    rows = base.conn.execute(
        "select limit_by, claimed_at from qwf.jobs order by claimed_at, position"
    ).fetchall()
    began: dict[str, int] = {}
    before = 0
    for row in rows:
        if len(began) < CUSTOMERS:
            began[row["limit_by"]] = began.get(row["limit_by"], 0) + 1
            before += 1
    assert before <= 2 * CUSTOMERS  # an agent claims in two sessions, each with its own turns
    assert base.invariants() == []


def test_a_customer_with_one_job_does_not_wait_for_one_with_many(
    base: Database, start: StartAgent
) -> None:
    """Nor do the places of the other one stay taken when its agent dies."""
    limit(base, 4)
    for _ in range(AHEAD // 2_000):
        base.one(MANY, ["acme"], 2_000)
    agent = start("--app", "bodies", "--slots", "4", "--lease", "2")
    done = f"select count(*) {OF_ACME} and status = 'completed' and task = %s"
    until(lambda: base.one(done, "noop") > 50)
    bob = base.ended(base.enqueue("noop", limit_by="customer:bob"))
    between = base.one(
        f"select count(*) {OF_ACME} and claimed_at between %s and %s",
        bob["created_at"], bob["claimed_at"],
    )  # fmt: skip
    assert between <= 8
    assert (bob["claimed_at"] - bob["created_at"]).total_seconds() < 1
    slow = [
        base.enqueue("sleeping", {"seconds": 3}, limit_by="customer:acme", priority=1)
        for _ in range(4)
    ]
    for job in slow:
        base.running(job)
    before = base.one(done, "noop")
    agent.signal(signal.SIGKILL)
    start("--app", "bodies", "--slots", "4", "--lease", "2")
    assert base.ended(base.enqueue("noop", limit_by="customer:eve"))["status"] == "completed"
    for job in slow:
        ended = base.ended(job)
        assert (ended["status"], ended["losses"]) == ("completed", 1)
        assert base.invariants() == []
    until(lambda: base.one(done, "noop") > before + 50)
    assert base.invariants() == []
