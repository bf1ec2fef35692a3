"""Which workers are woken, by which calls, and when."""

from __future__ import annotations

import pytest

from support.interleave import Race, asleep, claim, finish, heard, map_run


def test_new_work_wakes_one_sleeper_of_its_queue(race: Race) -> None:
    sleepers = [asleep(race, "a"), asleep(race, "b"), asleep(race, "c", "gpu")]
    race.rows("select qwf.enqueue('t', queue => 'cpu')")
    assert sorted(heard(s) for s in sleepers) == [[], [], ["cpu"]]
    assert heard(sleepers[2]) == []


def test_new_work_wakes_as_many_sleepers_as_there_are_jobs(race: Race) -> None:
    sleepers = [asleep(race, name) for name in "abc"]
    race.rows(
        'select qwf.enqueue_many(\'[{"task":"t","queue":"cpu"},{"task":"t","queue":"cpu"}]\')'
    )
    assert sorted(heard(s) for s in sleepers) == [[], ["cpu"], ["cpu"]]


def test_two_that_fell_asleep_within_4_ms_are_not_notified_because_they_look_again(
    race: Race,
) -> None:
    """However many producers enqueue meanwhile. One alone is, and so is each if there are more jobs
    than such workers."""
    sleepers = [asleep(race, name) for name in "ab"]
    race.stop_clock()
    for fresh, jobs, woken in ((2, 1, 0), (1, 1, 1), (2, 3, 2)):
        race.rows(
            "update qwf.sleepers s set since = qwf.now() - case when s.worker = any (%s)"
            " then '3 ms' else '5 ms' end::interval",
            list("ab"[:fresh]),
        )
        race.rows(
            "select * from qwf.enqueue_many((select jsonb_agg(jsonb_build_object('task', 't',"
            " 'queue', 'cpu')) from generate_series(1, %s)))",
            jobs,
        )
        assert len([1 for sleeper in sleepers if heard(sleeper)]) == woken, (fresh, jobs)
        assert len(claim(race, 9)) == jobs  # what they find when they look


@pytest.mark.parametrize("how", ["rollback", "savepoint", "kill"])
def test_a_rolled_back_enqueue_leaves_nothing_and_wakes_no_worker(race: Race, how: str) -> None:
    sleeper = asleep(race, "a")
    producer = race.session()
    producer.begin()
    producer.rows("savepoint before")
    producer.rows("select qwf.enqueue('t', queue => 'cpu')")
    if how == "rollback":
        producer.rollback()
    elif how == "savepoint":
        producer.rows("rollback to savepoint before")
        producer.commit()
    else:
        producer.kill()
    assert heard(sleeper) == []
    assert race.rows("select * from qwf.jobs") == []


def test_every_function_that_inserts_work_wakes_workers(race: Race) -> None:
    sleepers = [asleep(race, name) for name in "abc"]

    def woken() -> int:
        return sum(len(heard(s)) for s in sleepers)

    keyed = "select qwf.enqueue('t', queue => 'cpu', key => 'k')"
    race.rows(keyed)
    assert woken() == 1
    race.rows(keyed)
    assert woken() == 1, "a claim may have skipped the job while the call held it"
    race.rows(
        'select qwf.enqueue_many(\'[{"task":"t","queue":"cpu","key":"l","run_at":"2100-01-01"},'
        '{"task":"t","queue":"cpu","run_at":"2100-01-01"}]\')'
    )
    race.rows("select qwf.enqueue('t', queue => 'cpu', run_at => '2100-01-01')")
    race.run("pair", run_at="2100-01-01")
    assert woken() == 0, "nothing new that could be claimed"
    race.run("pair")
    assert woken() == 2
    map_run(race, 3, max_parallel=2)
    assert woken() == 2, "the third element waits for a slot"


def test_a_job_that_waited_for_its_key_wakes_a_worker_asleep_since(race: Race) -> None:
    keyed = "select qwf.enqueue('t', queue => 'cpu', key => 'k')"
    holder, producer = race.session(), race.session()
    holder.begin()
    holder.rows(keyed)
    producer.start(keyed)
    producer.waits()
    sleeper = asleep(race, "a")
    holder.rollback()
    producer.ends()
    assert heard(sleeper) == ["cpu"]


def test_new_work_wakes_workers_at_commit(race: Race) -> None:
    sleeper, producer = asleep(race, "a"), race.session()
    producer.begin()
    producer.rows("select qwf.enqueue('t', queue => 'cpu')")
    assert heard(sleeper) == []
    producer.commit()
    assert heard(sleeper) == ["cpu"]


@pytest.mark.parametrize("first", ["sleep", "enqueue"])
def test_a_worker_that_falls_asleep_while_work_arrives_finds_it(race: Race, first: str) -> None:
    """Either the producer sees the sleeper, or the sleeper's recheck sees the work."""
    worker, producer = race.session(), race.session()
    assert claim(worker) == []
    if first == "sleep":
        worker.begin()
        channel = worker.one("select qwf.sleep('w', 'cpu')")
        producer.rows("select qwf.enqueue('t', queue => 'cpu')")  # does not see the sleeper yet
        worker.commit()
        worker.rows(f'listen "{channel}"')
        assert len(claim(worker)) == 1
    else:
        producer.begin()
        producer.rows("select qwf.enqueue('s', queue => 'gpu')")
        worker = asleep(race, "w")
        assert claim(worker) == []
        producer.rows("select qwf.enqueue('t', queue => 'cpu')")
        producer.commit()
        assert heard(worker) == ["cpu"]


def test_concurrent_producers_wake_different_workers_without_waiting(race: Race) -> None:
    sleepers = [asleep(race, "a"), asleep(race, "b")]
    one, other = race.session(), race.nonblocking()
    one.begin()
    one.rows("select qwf.enqueue('t', queue => 'cpu')")
    other.rows("select qwf.enqueue('t', queue => 'cpu')")
    one.commit()
    assert [heard(s) for s in sleepers] == [["cpu"], ["cpu"]]


def test_no_session_waits_for_an_open_sleep_or_wake(race: Race) -> None:
    asleep(race, "a")
    agent, producer = race.session(), race.nonblocking()
    agent.begin()
    agent.rows("select qwf.sleep('a', 'cpu')")
    agent.rows("select qwf.sleep('b', 'cpu')")
    agent.rows("select qwf.wake('a')")
    producer.rows("select qwf.enqueue('t', queue => 'cpu')")
    producer.rows("select qwf.tick()")
    assert len(claim(producer)) == 1


def test_awake_workers_are_not_notified(race: Race) -> None:
    sleeper = asleep(race, "a")
    race.rows("select qwf.wake('a')")
    race.rows("select qwf.enqueue('t', queue => 'cpu')")
    assert heard(sleeper) == []


def test_released_or_opened_work_wakes_a_sleeper(race: Race) -> None:
    race.run("chain")
    held = claim(race, 2)
    sleeper = asleep(race, "a")
    finish(race, *held, outcome="released")
    assert heard(sleeper) == ["cpu"]
    finish(race, *claim(race, 2))
    assert heard(sleeper) == ["cpu"]
    (held,) = claim(race, 2)
    race.expire_leases(held.job)
    race.rows("select qwf.tick()")
    assert heard(sleeper) == ["cpu"]
    later = race.one("select qwf.enqueue('t', queue => 'cpu', run_at => '2100-01-01')")
    race.make_due(later)
    race.rows("select qwf.tick()")
    assert heard(sleeper) == ["cpu"]


def test_a_worker_that_took_all_it_could_wakes_the_next(race: Race) -> None:
    race.rows("select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 3)")
    sleeper = asleep(race, "a")
    claim(race, 5)
    assert heard(sleeper) == []
    race.rows("select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 3)")
    heard(sleeper)
    claim(race, 2)
    assert heard(sleeper) == ["cpu"]


def test_a_worker_is_notified_when_a_run_or_job_of_its_own_is_cancelled(race: Race) -> None:
    run = race.run("pair")
    claim(race, 2, worker="a")
    other = race.one("select qwf.enqueue('t', queue => 'cpu')")
    claim(race, worker="b")
    a, b = asleep(race, "a"), asleep(race, "b")
    race.rows("select qwf.cancel_run(%s)", run)
    race.rows("select qwf.cancel_job(%s)", other)
    assert (heard(a), heard(b)) == (["cancel"], ["cancel"])
    race.rows("select qwf.cancel_run(%s)", run)
    race.rows("select qwf.cancel_job(%s)", other)
    assert (heard(a), heard(b)) == ([], [])  # once is enough


def worker(race: Race, info: str) -> str:
    return str(race.one("select qwf.register_worker('box', 'cpu', %s)", info))


def test_a_wake_up_for_a_job_the_worker_cannot_take_is_passed_on_once(race: Race) -> None:
    """To a worker that can take it; not back, and not again to one that has rechecked."""
    able = worker(race, '{"tasks": ["t"]}')
    unable = [worker(race, '{"tasks": ["u"]}') for _ in range(2)]
    sleepers = [asleep(race, name) for name in (able, *unable)]
    race.rows("select qwf.enqueue('t', queue => 'cpu')")
    assert [heard(s) for s in sleepers] == [
        [],
        [],
        ["cpu"],
    ]  # the one that fell asleep last, which cannot take it
    race.rows("select qwf.wake(%s)", unable[1])
    assert claim(race, worker=unable[1]) == []
    race.rows("select qwf.sleep(%s, 'cpu')", unable[1])
    assert [heard(s) for s in sleepers] == [["cpu"], [], []]
    race.rows("select pg_sleep(0.005)")  # who sleeps again is recorded 4 ms early: let that pass
    race.rows("select qwf.sleep(%s, 'cpu')", able)  # it found nothing: a rival had the job
    assert claim(race, worker=unable[0]) == []
    assert [heard(s) for s in sleepers] == [[], [], []]
    assert [c.name for c in claim(race, worker=able)] == ["t"]


def test_a_job_that_a_rival_is_claiming_wakes_no_worker(race: Race) -> None:
    race.rows("select qwf.enqueue('t', queue => 'cpu')")
    rival = race.session()
    rival.begin()
    assert claim(rival)
    sleeper = asleep(race, worker(race, "{}"))
    race.rows("update qwf.sleepers set since = since - interval '1 s'")
    assert claim(race, worker=worker(race, "{}")) == []
    assert heard(sleeper) == []
    rival.rollback()


def test_a_tick_wakes_a_worker_for_work_whose_wake_up_was_lost(race: Race) -> None:
    """The woken worker has died; another sleeper is woken within a tick."""
    race.rows("select qwf.sleep('dead', 'cpu')")
    race.rows("select qwf.enqueue('t', queue => 'cpu')")
    sleeper = asleep(race, "alive")
    race.rows("update qwf.jobs set queued_at = queued_at - interval '1 s'")
    race.rows("select qwf.tick()")
    assert heard(sleeper) == ["cpu"]
    assert len(claim(race, 2)) == 1
    race.rows("select qwf.tick()")
    assert heard(sleeper) == []


def test_an_echo_is_heard_by_the_worker_it_names(race: Race) -> None:
    one, other = asleep(race, "one"), asleep(race, "other")
    race.rows("select qwf.echo('one')")
    assert (heard(one), heard(other)) == (["echo"], [])
