"""Alerts and what happens at the same moment: ticks, rules, kills."""

from __future__ import annotations

import json
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from support.harness import until
from support.planted_bugs import ALERT_BUGS, put_in

Db = psycopg.Connection[Any]
RULE = json.dumps({"when": ["job_failed"], "by": "job", "do": {"receiver": "ops"}})


def fails(db: Db, times: int = 1) -> None:
    db.execute("select qwf.enqueue('t') from generate_series(1, %s)", (times,))
    db.execute(
        "select qwf.finish(job_id, token, 'fatal') from qwf.claim('default', 'w', %s)", (times,)
    )


def until_blocked(db: Db, other: Db) -> None:
    """Wait until the session waits for a lock."""
    query = "select from pg_stat_activity where pid = %s and wait_event_type = 'Lock'"
    pid = other.info.backend_pid
    until(lambda: db.execute(query, (pid,)).rowcount, "a session that waits")


def messages(db: Db) -> list[tuple[Any, ...]]:
    query = (
        "select job_id, count(*) from qwf.alert_messages where state = 'open' group by 1 order by 1"
    )
    return db.execute(query).fetchall()


def test_a_killed_tick_loses_no_message_and_makes_none_twice(db: Db, dsn: str) -> None:
    """Number, alert and job are one transaction: who dies before its commit has done nothing."""
    db.execute("select qwf.set_alert('r', %s)", (RULE,))
    for _ in range(5):
        fails(db)
        with psycopg.connect(dsn) as other:
            other.execute("select qwf.tick()")
            assert messages(other)
            assert db.execute("select qwf.tick()").fetchone()  # finds the lock, does nothing
            db.execute("select pg_terminate_backend(%s)", (other.info.backend_pid,))
            with pytest.raises(psycopg.OperationalError):
                other.execute("select 1")
        db.execute("select qwf.tick()")
    assert messages(db) == [(job, 1) for job, _ in messages(db)]
    assert len(messages(db)) == 5
    assert db.execute("select * from qwf.check_invariants()").fetchall() == []


def test_two_ticks_at_once_match_each_event_once(db: Db, dsn: str) -> None:
    """The second one gets no lock, and the events are not its own to match."""
    db.execute("select qwf.set_alert('r', %s)", (RULE,))
    fails(db, 10)
    with psycopg.connect(dsn) as other:
        other.execute("select _qwf.number_and_match()")
        assert db.execute("select _qwf.number_and_match()").fetchone() == (0,)
        fails(db)
        assert db.execute("select _qwf.number_and_match()").fetchone() == (0,)
    db.execute("select _qwf.number_and_match()")
    assert [count for _, count in messages(db)] == [1] * 11


def test_a_rule_that_is_set_while_events_are_matched_waits(db: Db, dsn: str) -> None:
    """It begins with the events that have no number yet, not in the middle of a pass."""
    fails(db)
    with psycopg.connect(dsn) as tick, psycopg.connect(dsn) as admin:
        tick.execute("select _qwf.number_and_match()")
        admin.execute("set lock_timeout = '200 ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            admin.execute("select qwf.set_alert('r', %s)", (RULE,))
    db.execute("select qwf.set_alert('r', %s)", (RULE,))
    db.execute("select qwf.tick()")
    assert messages(db) == []
    fails(db)
    db.execute("select qwf.tick()")
    assert len(messages(db)) == 1


def test_a_dropped_rule_sends_nothing_that_was_due(db: Db) -> None:
    """Its alerts go with it."""
    rule = {**json.loads(RULE), "for": "1 s"}
    db.execute("select qwf.set_alert('r', %s)", (json.dumps(rule),))
    fails(db)
    db.execute("select qwf.tick()")
    db.execute("select qwf.set_alert('r', null)")
    db.execute("select pg_sleep(1.1)")
    db.execute("select qwf.tick()")
    assert messages(db) == []


BUGS = [
    ("_qwf.number_and_match", "for no key update skip locked", "for no key update"),
    ("_qwf.group_events", "e.seq > p_from", "e.seq >= 0"),
    ("qwf.set_alert", "perform from _qwf.event_numbers n for no key update;", ""),
]
TESTS = [
    test_two_ticks_at_once_match_each_event_once,
    test_a_rule_that_is_set_while_events_are_matched_waits,
    test_a_rule_that_is_set_while_events_are_matched_waits,
]


@pytest.mark.parametrize("at", range(len(BUGS)))
def test_a_planted_bug_is_found(db: Db, dsn: str, at: int) -> None:
    """The tests above fail if a lock or a bound is taken out."""
    put_in(dsn, *BUGS[at])
    db.execute("set lock_timeout = '2 s'")
    with pytest.raises((AssertionError, psycopg.errors.LockNotAvailable, pytest.fail.Exception)):
        TESTS[at](db, dsn)


NIGHT = """
select qwf.set_alert('r', '{"when": ["job_failed"], "by": "job", "within": "1 s",
  "do": {"receiver": "ops"}}');
select qwf.set_alert('many', '{"when": ["job_failed"], "by": "rule", "more_than": 5, "within": 9,
  "do": {"task": "told"}}');
select qwf.register_workflow('{"name": "w", "expect": {"starts_within": "1 min"},
  "steps": [{"id": "a", "node": "a", "queue": "cpu"}]}');
select qwf.create_queue('slow', expect => '{"starts_within": "1 min"}');
select qwf.enqueue('t', queue => 'slow');
update qwf.jobs set queued_at = queued_at - interval '1 h';
select qwf.enqueue_run('w') from generate_series(1, 2);
update qwf.runs set created_at = created_at - interval '1 h';
select qwf.tick();
"""
WRONG = "select distinct invariant from qwf.check_invariants()"


@pytest.mark.parametrize("invariant", [None, *ALERT_BUGS])
def test_the_invariants_know_alerts_and_late_work(db: Db, dsn: str, invariant: str | None) -> None:
    """A night in which much goes wrong breaks none of them; with a bug it breaks its own."""
    if invariant:
        put_in(dsn, *ALERT_BUGS[invariant])
    for statement in NIGHT.split(";\n"):
        db.execute(statement or "select 1")
    fails(db, 30)
    db.execute("select qwf.claim('cpu', 'w', 1)")
    db.execute("select qwf.finish(id, token, 'completed') from qwf.jobs where token is not null")
    for _ in range(3):
        db.execute("select qwf.tick()")
    db.execute("select pg_sleep(1.1)")
    db.execute("select qwf.tick()")
    found = [name for (name,) in db.execute(WRONG).fetchall()]
    assert found == [] if invariant is None else invariant in found


@pytest.mark.parametrize("of_run", [True, False])
def test_who_asks_to_be_told_while_the_work_ends_is_told_or_refused(
    db: Db, dsn: str, of_run: bool
) -> None:
    """If the job ends first, the caller waits for its row and gets an error: it is over. If the
    caller comes first, the receiver is told of the end, because that event has no number yet."""
    flow = {"name": "w", "steps": [{"id": "t", "node": "t", "queue": "default"}]}
    db.execute("select qwf.register_workflow(%s)", (json.dumps(flow),))
    start = "select qwf.enqueue_run('w')" if of_run else "select qwf.enqueue('t')"
    claim = "select job_id, token from qwf.claim('default', 'w')"
    end = "select qwf.finish(%s, %s, 'fatal')"
    ask = "select qwf.change_job(max(id), notify => 'ada') from qwf.jobs"
    db.execute(start)
    with psycopg.connect(dsn) as ending, psycopg.connect(dsn) as asking:
        ending.execute(end, db.execute(claim).fetchone())
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(asking.execute, ask)
            until_blocked(db, asking)
            ending.commit()
            with pytest.raises(psycopg.errors.DatabaseError) as refused:
                asked.result(60)
        assert refused.value.sqlstate == "QW002"
    db.execute(start)
    claimed = db.execute(claim).fetchone()
    with psycopg.connect(dsn) as ending, psycopg.connect(dsn) as asking:
        asking.execute(ask)
        with ThreadPoolExecutor(1) as pool:
            ended = pool.submit(ending.execute, end, claimed)
            if not of_run:  # the end of a node leaves a run that is locked to the next tick
                until_blocked(db, ending)
            asking.commit()
            ended.result(60)
        ending.commit()
    db.execute("select qwf.drain_outbox()")
    db.execute("select _qwf.number_and_match()")
    told = db.execute("select receiver, state from qwf.alert_messages").fetchall()
    assert told == [("ada", "open")]


# The clock moves by some seconds whenever somebody reads it: each tick is as slow as that.
SLOW = """
create sequence qwf.reading;
create or replace function qwf.now() returns timestamptz language sql volatile
as $$ select timestamptz '2030-01-01' + nextval('qwf.reading') * interval '1 ms' $$;
"""
ASKED = """
insert into _qwf.event_log (at, kind, subject, names, detail)
select qwf.now(), %s, %s || n, jsonb_build_object('notify', %s::text), '{"status": "failed"}'
from generate_series(1, %s) n
"""
EACH = {"when": ["lost"], "by": "event", "within": "1 min", "send_resolved": False}
UNTOLD = """  -- alerts without a message, and the storm that was told when they closed
select o.rule, count(*), max((j.inputs #>> '{alert,count}')::int),
  max((j.inputs #>> '{message,count}')::int)
from qwf.open_alerts o
left join qwf.alert_messages m on m.rule = o.rule and m.state = 'storm'
  and m.created_at between o.closed_at and o.closed_at + interval '50 min'
left join qwf.jobs j on j.id = m.sent_job
where o.messages = 0
group by o.rule, o.closed_at
"""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_each_event_that_somebody_asked_for_is_told_or_counted(db: Db, seed: int) -> None:
    """However slow the ticks are and however many events come within an hour: each has an alert of
    its own, and each alert its message, or its place in the count of a storm that was told."""
    draw = random.Random(seed)
    db.execute(SLOW)
    db.execute("select qwf.set_alert('each', %s)", (json.dumps({**EACH, "do": {"task": "t"}}),))

    def moves(seconds: float, reading: float) -> None:
        db.execute("select setval('qwf.reading', nextval('qwf.reading') + %s)", (seconds * 1000,))
        db.execute(f"alter sequence qwf.reading increment by {max(round(reading * 1000), 1)}")

    happened: Counter[str] = Counter()
    for _ in range(14):
        for _ in range(draw.randint(0, 3)):
            who, many = draw.choice(["ada", "bob", "each"]), draw.choice([1, 2, 15, 30])
            kind = "lost" if who == "each" else draw.choice(["run_ended", "job_failed"])
            db.execute(ASKED, (kind, who, who, many))
            happened["each" if kind == "lost" else f"qwf.notify.{who}"] += many
        moves(draw.choice([0, 30, 600, 3600, 4000]), draw.choice([0, 0.3, 2, 20]))
        db.execute("select _qwf.number_and_match()")
    for _ in range(8):
        moves(3700, 0.1)
        db.execute("select qwf.tick()")
        db.execute("select qwf.tick()")
    found = db.execute("select rule, count(*), count(closed_at) from qwf.open_alerts group by rule")
    assert {rule: (many, over) for rule, many, over in found.fetchall()} == {
        rule: (many, many) for rule, many in happened.items()
    }
    for rule, many, own, asked in db.execute(UNTOLD).fetchall():
        assert many <= (own or asked or 0), f"{rule}: {many} closed, nobody was told"
    assert db.execute("select * from qwf.check_invariants()").fetchall() == []


def test_a_receiver_that_is_told_at_this_moment_is_not_forgotten(db: Db, dsn: str) -> None:
    """The tick has found its rule; if prune() deleted it then, the message would never go out."""
    ask = (ASKED, ("run_ended", "w", "ada", 1))
    db.execute(*ask)
    db.execute("select _qwf.number_and_match()")
    db.execute("update qwf.open_alerts set closed_at = qwf.now(), close_at = null")
    db.execute("update qwf.alerts set hour_began = hour_began - interval '3 days'")
    db.execute(*ask)
    with psycopg.connect(dsn) as tick:
        tick.execute("select _qwf.number_and_match()")
        db.execute("set lock_timeout = '5 s'")
        db.execute("select qwf.prune()")
    told = db.execute("select count(*), count(distinct a.name) from qwf.alert_messages m"
                      " join qwf.alerts a on a.name = m.rule").fetchone()  # fmt: skip
    assert told == (2, 1)
    assert db.execute("select * from qwf.check_invariants()").fetchall() == []
