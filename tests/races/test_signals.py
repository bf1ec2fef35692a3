"""Signals against steps that begin to wait, and against all else that ends a wait."""

from __future__ import annotations

import json

import psycopg
import pytest

from support.interleave import Race, Session, claim, finish
from support.planted_bugs import SIGNAL_BUGS, put_in

STEPS = [
    {"id": "before", "kind": "pipeline", "pipeline": "one"},
    {"id": "paid", "kind": "input", "signal": "paid", "depends_on": ["before"],
     "expires": "1 h", "default": "late"},
    {"id": "after", "kind": "pipeline", "pipeline": "one", "depends_on": ["paid"]},
]  # fmt: skip
SIGNAL = "select qwf.signal('paid', %s)"
BOTH = pytest.mark.parametrize("commits", [True, False])


def register(race: Race, **keys: object) -> None:
    pipeline = {"name": "one", "nodes": [{"id": "work", "node": "work"}]}
    steps = [STEPS[0], {**STEPS[1], **keys}, STEPS[2]]
    race.rows("select qwf.register_pipeline(%s)", json.dumps(pipeline))
    race.rows("select qwf.register_workflow(%s)", json.dumps({"name": "order", "steps": steps}))


def begun(race: Race, **keys: object) -> int:
    """A run whose first step has not ended."""
    register(race, **keys)
    return int(race.one("select qwf.enqueue_run('order')"))


def waiting(race: Race, **keys: object) -> int:
    """A run that waits for the signal."""
    run = begun(race, **keys)
    finish(race, *claim(race))
    assert race.statuses(run)["paid"] == "awaiting_input"
    return run


def matched(session: Session) -> int:
    return int(session.one("select _qwf.match_signals()"))


def answers(race: Race) -> list[object]:
    return [value for (value,) in race.rows("select value from qwf.input_answers order by id")]


def test_a_step_and_a_signal_that_do_not_see_each_other(race: Race) -> None:
    """The tick brings them together, however long one of them stays open; nobody waits."""
    run = begun(race)
    worker, program = race.session(), race.nonblocking()
    worker.begin()
    assert finish(worker, *claim(worker)) == [("ok", False)]
    assert program.one(SIGNAL, '"early"') == 0
    for _ in range(3):
        race.rows("update qwf.signals set look_at = '-infinity'")
        assert matched(race) == 0
    worker.commit()
    assert race.statuses(run)["paid"] == "awaiting_input"
    race.healthy()
    race.rows("update qwf.signals set look_at = '-infinity' where look_at is not null")
    assert matched(race) == 1
    assert race.statuses(run)["after/work"] == "queued"
    race.healthy()
    race.rows("update qwf.signals set look_at = '-infinity' where look_at is not null")
    assert matched(race) == 0
    assert race.one("select look_at from qwf.signals") is None
    race.complete_all()
    assert race.run_status(run) == "completed"


@BOTH
def test_a_step_opens_while_the_signal_is_uncommitted(race: Race, commits: bool) -> None:
    """The finish does not wait for the producer, whose signal counts once it commits."""
    run = begun(race)
    program, worker = race.session(), race.nonblocking()
    program.begin()
    assert program.one(SIGNAL, '"early"') == 0
    assert finish(worker, *claim(worker)) == [("ok", False)]
    assert matched(race) == 0
    program.commit() if commits else program.rollback()
    assert matched(race) == commits
    assert answers(race) == (["early"] if commits else [])
    race.healthy()
    assert race.run_status(run) == ("running" if commits else "awaiting_input")


def test_a_step_that_opens_with_an_older_snapshot_is_found(race: Race) -> None:
    """A report in a transaction with a snapshot from before the signal misses it; the tick looks
    again."""
    run = begun(race)
    worker, program = race.session(), race.nonblocking()
    (claimed,) = claim(race)
    worker.begin("repeatable read")
    worker.rows("select 1")
    program.one(SIGNAL, '"early"')
    for _ in range(2):
        race.rows("update qwf.signals set look_at = '-infinity' where look_at is not null")
        matched(race)
    assert race.one("select look_at from qwf.signals") is None
    finish(worker, claimed)
    worker.commit()
    race.settle()
    assert matched(race) + len(answers(race)) > 0
    assert answers(race) == ["early"]
    race.complete_all()
    assert race.run_status(run) == "completed"


@BOTH
def test_a_signal_leaves_a_locked_run_to_the_tick(race: Race, commits: bool) -> None:
    """A person who answers at that moment is first; if that is rolled back, the signal counts."""
    run = waiting(race)
    person, program = race.session(), race.nonblocking()
    person.begin()
    person.rows("select qwf.submit_input(%s, 'paid', '\"by hand\"')", run)
    assert program.one(SIGNAL, '"signal"') == 0
    assert matched(race) == 0
    person.commit() if commits else person.rollback()
    assert matched(race) == (0 if commits else 1)
    assert answers(race) == (["by hand"] if commits else ["signal"])
    race.healthy()


def test_a_person_who_answers_during_a_signal_is_refused(race: Race) -> None:
    """The person waits for the producer, and is told that it has been answered."""
    run = waiting(race)
    program, person = race.session(), race.session()
    program.begin()
    assert program.one(SIGNAL, '"signal"') == 1
    person.start("select qwf.submit_input(%s, 'paid', '\"by hand\"')", run)
    person.waits()
    program.commit()
    with pytest.raises(psycopg.Error) as refused:
        person.ends()
    assert refused.value.sqlstate == "QW002"
    assert answers(race) == ["signal"]
    race.healthy()


@pytest.mark.parametrize("first", ["signal", "expiry"])
@BOTH
def test_a_signal_and_the_expiry(race: Race, first: str, commits: bool) -> None:
    """Of the two, the one that commits counts, and it counts once."""
    run = waiting(race)
    race.make_late(race.job(run, "paid"))
    one, other = race.session(), race.nonblocking()
    expire = "select _qwf.expire_inputs(p_kind => 'signal')"
    one.begin()
    if first == "signal":
        assert one.one(SIGNAL, '"signal"') == 1
        assert other.one(expire) == 0
    else:
        assert one.one(expire) == 1
        assert other.one(SIGNAL, '"signal"') == 0
    one.commit() if commits else one.rollback()
    if first == "signal":
        assert race.one(expire) == (0 if commits else 1)
    else:
        assert matched(race) == (0 if commits else 1)
    assert answers(race) == ["signal" if (first == "signal") == commits else "late"]
    race.healthy()
    race.complete_all()
    assert race.run_status(run) == "completed"


@BOTH
def test_a_signal_while_the_run_is_cancelled(race: Race, commits: bool) -> None:
    """It does not wait, and answers only if the run goes on."""
    run = waiting(race)
    operator, program = race.session(), race.nonblocking()
    operator.begin()
    operator.rows("select qwf.cancel_run(%s)", run)
    assert program.one(SIGNAL, '"signal"') == 0
    operator.commit() if commits else operator.rollback()
    assert matched(race) == (0 if commits else 1)
    assert race.run_status(run) == ("cancelled" if commits else "running")
    race.healthy()


def test_a_cancel_during_a_signal(race: Race) -> None:
    """It waits for the producer; the step stays answered."""
    run = waiting(race)
    program, operator = race.session(), race.session()
    program.begin()
    assert program.one(SIGNAL, '"signal"') == 1
    operator.start("select qwf.cancel_run(%s)", run)
    operator.waits()
    program.commit()
    operator.ends()
    race.healthy()
    assert race.statuses(run)["paid"] == "completed"
    assert race.run_status(run) == "cancelled"


@BOTH
def test_two_signals_of_one_name(race: Race, commits: bool) -> None:
    """Neither waits for the other; a step is answered once, and both are kept."""
    waiting(race)
    one, other = race.session(), race.nonblocking()
    one.begin()
    assert one.one(SIGNAL, '"first"') == 1
    assert other.one(SIGNAL, '"second"') == 0
    one.commit() if commits else one.rollback()
    assert matched(race) == (0 if commits else 1)
    assert answers(race) == ["first" if commits else "second"]
    kept = [value for (value,) in race.rows("select payload from qwf.signals order by id")]
    assert kept == (["first", "second"] if commits else ["second"])
    race.healthy()


SCHEMA = {"type": "object", "required": ["status"], "properties": {"status": {"enum": ["ok"]}}}


@pytest.mark.parametrize("then", ["bounced", "ok"])
def test_a_signal_that_fits_is_not_lost_behind_another(race: Race, then: str) -> None:
    """The run is locked while both come. The newest that fits counts."""
    waiting(race, schema=SCHEMA, default={"status": "ok"})
    other, program = race.session(), race.nonblocking()
    other.begin()
    other.rows("select from qwf.runs for no key update")
    for number, status in enumerate(["ok", then, "bounced"]):
        payload = json.dumps({"status": status, "number": number})
        assert program.one(SIGNAL, payload) == 0
    assert matched(race) == 0
    other.commit()
    race.rows("update qwf.signals set look_at = '-infinity' where look_at is not null")
    assert matched(race) == 1
    assert answers(race) == [{"status": "ok", "number": 1 if then == "ok" else 0}]
    race.healthy()
    for _ in range(2):
        race.rows("update qwf.signals set look_at = '-infinity' where look_at is not null")
        assert matched(race) == 0
    assert race.rows("select from qwf.signals where look_at is not null") == []


def test_the_tick_answers_the_others_also_behind_a_signal_that_does_not_fit(race: Race) -> None:
    register(race, schema=SCHEMA, default={"status": "ok"})
    race.rows("select qwf.enqueue_run('order') from generate_series(1, 105)")
    while claimed := claim(race, 1000):
        finish(race, *claimed)
    assert race.one(SIGNAL, '{"status": "ok"}') == 100
    assert race.one(SIGNAL, '{"status": "bounced"}') == 0
    race.healthy()
    assert matched(race) == 5
    race.healthy()


def test_many_steps_wake_by_signal_and_tick(race: Race) -> None:
    """The signal answers 100 at once, a tick 1,000, also if one run is locked or cannot go on."""
    register(race)
    race.rows("select qwf.enqueue_run('order') from generate_series(1, 1105)")
    while claimed := claim(race, 1000):
        finish(race, *claimed)
    locked, broken = race.rows("select id from qwf.runs order by id limit 2")
    holder = race.session()
    holder.begin()
    holder.rows("select from qwf.runs where id = %s for no key update", *locked)
    race.rows(
        "create function public.tg_jam() returns trigger language plpgsql as"
        " 'begin raise exception $$jammed$$; end'"
    )
    race.rows(
        "create trigger jam before update on qwf.jobs for each row when"
        f" (new.run_id = {broken[0]} and new.status = 'queued') execute function public.tg_jam()"
    )
    assert race.one(SIGNAL, '"go"') == 99
    assert matched(race) == 1000
    assert len(answers(race)) == 1099 - 1
    holder.commit()
    race.rows("drop trigger jam on qwf.jobs")
    assert matched(race) == 7
    assert race.one("select count(*) from qwf.waits") == 0
    race.healthy()


@pytest.mark.parametrize("name", SIGNAL_BUGS)
def test_a_planted_bug_is_found(race: Race, name: str) -> None:
    put_in(race.conn.info.dsn, *SIGNAL_BUGS[name])
    test = name.split(" ")[0]
    with pytest.raises((AssertionError, psycopg.Error)):
        globals()[test](race, *([True] if " " in name else []))
