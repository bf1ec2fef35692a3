"""Placement pack: a new job goes to the best worker with room, and waits for it only briefly."""

from __future__ import annotations

import random

import pytest

from support.interleave import Race, Session, asleep, heard

SLOTS = {"a": 3, "b": 2, "c": 1}


@pytest.fixture(autouse=True)
def _clock(race: Race) -> None:
    """A worker waits a quarter of a second for a better one: no step may take that long."""
    race.stop_clock()


def packed(race: Race) -> dict[str, str]:
    """Workers of the queue llm by host, the best first: a, b, c."""
    return {
        host: race.one(
            "select qwf.register_worker(%s, 'llm', jsonb_build_object('slots', %s::int))", host, n
        )
        for host, n in SLOTS.items()
    }


def take(session: Session | Race, worker: str, most: int = 1) -> list[str]:
    """The tasks that a claim hands out."""
    claim = "select task from qwf.claim('llm', %s, %s)"
    return [row[0] for row in session.rows(claim, worker, most)]


def test_the_best_sleeper_is_woken_first(race: Race) -> None:
    workers = packed(race)
    sessions = {host: asleep(race, workers[host], "llm") for host in ("a", "c", "b")}
    race.rows("select qwf.enqueue('t', queue => 'llm')")
    assert {host: heard(session) for host, session in sessions.items()} == {
        "a": ["llm"],
        "b": [],
        "c": [],
    }


def test_who_yields_wakes_the_better_one(race: Race) -> None:
    workers = packed(race)
    better = asleep(race, workers["a"], "llm")
    asleep(race, workers["c"], "llm")
    race.rows("update qwf.sleepers set since = qwf.now() + interval '10 s'")
    race.rows("select qwf.enqueue('t', queue => 'llm')")
    assert heard(better) == [], "several have just fallen asleep: they look again by themselves"
    assert take(race, workers["c"]) == []
    assert heard(better) == ["llm"]
    assert take(better, workers["a"]) == ["t"]


def test_who_has_no_room_left_passes_on_what_was_left_to_it(race: Race) -> None:
    workers = packed(race)
    best, other = (asleep(race, workers[host], "llm") for host in "ab")
    best.rows("select qwf.wake(%s)", workers["a"])
    assert heard(other) == [], "nothing waits"
    best.rows("select qwf.sleep(%s, 'llm')", workers["a"])
    race.rows("update qwf.sleepers set since = qwf.now() - interval '1 s'")
    race.rows("select qwf.enqueue('t', queue => 'llm')")
    assert (heard(best), heard(other)) == (["llm"], [])
    assert take(other, workers["b"]) == []
    best.rows("select qwf.wake(%s)", workers["a"])
    assert heard(other) == ["llm"]
    assert take(other, workers["b"]) == ["t"]


def test_agents_hear_that_the_placement_of_a_queue_has_changed(race: Race) -> None:
    session = race.session()
    session.rows("listen worker_control")
    race.rows("select qwf.create_queue('llm', placement => 'pack')")
    assert heard(session) == [], "it had that one"
    race.rows("select qwf.create_queue('llm', placement => 'spread')")
    assert heard(session) == ["settings"]


def test_two_claims_at_once_hand_out_a_job_once(race: Race) -> None:
    workers = packed(race)
    asleep(race, workers["a"], "llm")
    race.rows("select qwf.enqueue('t', queue => 'llm')")
    best, worst = race.session(), race.session()
    best.begin()
    assert take(best, workers["a"]) == ["t"]
    assert take(worst, workers["c"]) == [], "the better one has it, whether or not it commits"
    best.rollback()
    assert take(best, workers["a"]) == ["t"]


def test_a_claim_that_notes_a_silent_worker_holds_up_nobody(race: Race) -> None:
    workers = packed(race)
    asleep(race, workers["a"], "llm")
    race.rows("select qwf.enqueue_many(%s)", '[{"task": "t", "queue": "llm"}]')
    pass_time(race, 1.0)
    worse, silent, third = race.session(), race.nonblocking(), race.nonblocking()
    worse.begin()
    assert take(worse, workers["c"]) == ["t"], "it has waited for the silent one"
    race.rows("select qwf.enqueue('u', queue => 'llm')")
    pass_time_of_jobs = (
        "update qwf.jobs set queued_at = queued_at - interval '1 s' where task = 'u'"
    )
    race.rows(pass_time_of_jobs)
    assert take(third, workers["b"]) == ["u"], "the row of the silent one is locked"
    assert take(silent, workers["a"]) == []
    worse.commit()
    assert take(silent, workers["a"]) == []
    assert race.one("select max(unanswered) from qwf.sleepers") == 0, "it has claimed since"


def pass_time(race: Race, seconds: float) -> None:
    """Let time pass for jobs and sleepers."""
    race.rows("update qwf.jobs set queued_at = queued_at - %s * interval '1 s'", seconds)
    race.rows("update qwf.sleepers set since = since - %s * interval '1 s'", seconds)


@pytest.mark.parametrize("seed", range(10))
def test_a_claim_in_any_order_is_empty_only_for_a_better_sleeper(race: Race, seed: int) -> None:
    """No job waits longer than the patience while anybody asks, and below capacity a fresh one goes
    to nobody who is worse."""
    choice = random.Random(seed)
    workers = packed(race)
    asleep_since: dict[str, float] = {}
    clock = 0.0
    for _ in range(80):
        seconds = choice.choice([0.01, 0.05, 0.2, 6.0])
        pass_time(race, seconds)
        clock += seconds
        if choice.random() < 0.4:
            race.rows("select qwf.enqueue('t', queue => 'llm')")
        host = choice.choice(list(workers))
        waited = race.one(
            "select extract(epoch from qwf.now() - min(queued_at))::float8 from qwf.jobs"
            " where status = 'queued'"
        )
        ignored = {  # two jobs were left to them in vain
            name for (name,) in race.rows(
                "select w.host from qwf.sleepers s join qwf.workers w on w.id = s.worker"
                " where s.unanswered >= 2"
            )
        }  # fmt: skip
        awake = asleep_since.keys() - ignored
        better = [h for h in awake if h < host and clock - asleep_since[h] < 14]
        undecided = [h for h in asleep_since if h < host and 14 <= clock - asleep_since[h] < 16]
        taken = take(race, workers[host])
        if waited is None:
            assert taken == []
        elif abs(waited - 0.25) > 0.1 and not undecided:  # else too close for a real clock
            assert taken == ([] if better and waited < 0.25 else ["t"]), (host, better, waited)
        if taken or choice.random() < 0.3:
            race.rows("delete from qwf.sleepers where worker = %s", workers[host])
            asleep_since.pop(host, None)
        else:
            race.rows("select qwf.sleep(%s, 'llm')", workers[host])
            asleep_since[host] = clock
