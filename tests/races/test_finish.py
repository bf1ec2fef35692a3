"""Reports against each other, reclaim and killed sessions: one outcome, written once."""

from __future__ import annotations

import pytest

from support.interleave import FINISH, Race, claim, finish, reports


def test_finish_before_reclaim(race: Race) -> None:
    job = race.one("select qwf.enqueue('t', queue => 'cpu')")
    (held,) = claim(race)
    race.expire_leases(job)
    worker = race.session()
    worker.begin()
    assert finish(worker, held) == [("ok", False)]
    assert race.nonblocking().rows("select _qwf.reclaim()") == []
    worker.commit()
    assert race.rows("select _qwf.reclaim()") == []
    assert race.status(job) == "completed"
    race.healthy()


def test_reclaim_before_finish(race: Race) -> None:
    job = race.one("select qwf.enqueue('t', queue => 'cpu')")
    (held,) = claim(race)
    race.expire_leases(job)
    engine, worker = race.session(), race.session()
    engine.begin()
    assert engine.rows("select _qwf.reclaim()") == [(job,)]
    worker.start(FINISH, reports(held))
    worker.waits()
    engine.commit()
    assert worker.ends() == [("lost", False)]
    assert race.status(job) == "queued"
    assert race.rows("select outcome, reason from qwf.attempt_overview") == [
        ("lost", "lease_lapsed")
    ]
    race.healthy()


def test_a_rolled_back_reclaim_leaves_the_job_with_its_worker(race: Race) -> None:
    job = race.one("select qwf.enqueue('t', queue => 'cpu')")
    (held,) = claim(race)
    race.expire_leases(job)
    engine, worker = race.session(), race.session()
    engine.begin()
    engine.rows("select _qwf.reclaim()")
    worker.start(FINISH, reports(held))
    worker.waits()
    engine.kill()
    assert worker.ends() == [("ok", False)]
    assert race.status(job) == "completed"
    race.healthy()


def test_two_reclaims_count_one_loss(race: Race) -> None:
    job = race.one("select qwf.enqueue('t', queue => 'cpu')")
    claim(race)
    race.expire_leases(job)
    first = race.session()
    first.begin()
    assert first.rows("select _qwf.reclaim()") == [(job,)]
    assert race.nonblocking().rows("select _qwf.reclaim()") == []
    first.commit()
    assert race.rows("select _qwf.reclaim()") == []
    assert race.one("select losses from qwf.jobs") == 1


def test_a_stale_report_does_not_affect_the_next_claim(race: Race) -> None:
    job = race.one("select qwf.enqueue('t', queue => 'cpu')")
    (zombie,) = claim(race, worker="zombie")
    race.expire_leases(job)
    race.settle()
    (heir,) = claim(race, worker="heir")
    state = (
        "select status, token::text, lease_expires_at, claimed_by, p from qwf.jobs"
        " left join qwf.job_progress p on p.job_id = id"
    )
    before = race.rows(state)
    for outcome in ("completed", "error", "fatal", "tempfail", "lost", "released", "cancelled"):
        assert finish(race, zombie, outcome=outcome) == [("lost", False)]
    assert race.one("select qwf.progress(%s, %s, 0.5)", job, zombie.token) == "lost"
    beat = "select verdict from qwf.heartbeat('zombie', array[%s]::uuid[])"
    assert race.one(beat, zombie.token) == "lost"
    race.rows("select qwf.deregister_worker('zombie')")
    assert race.rows(state) == before
    assert finish(race, heir) == [("ok", False)]


@pytest.mark.parametrize("second", ["completed", "error"])
def test_two_reports_with_one_token(race: Race, second: str) -> None:
    job = race.one("select qwf.enqueue('t', queue => 'cpu')")
    (held,) = claim(race)
    one, other = race.session(), race.session()
    one.begin()
    assert finish(one, held) == [("ok", False)]
    other.start(FINISH, reports(held, outcome=second))
    other.waits()
    one.commit()
    assert other.ends() == [("ok" if second == "completed" else "lost", False)]
    assert race.status(job) == "completed"
    race.healthy()


def test_batches_in_opposite_order_do_not_deadlock(race: Race) -> None:
    race.rows("select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 20)")
    held = claim(race, 20)
    open_gate = race.gate("qwf.jobs", f"old.id = {held[9].job}")
    one, other = race.session(), race.session()
    one.start(FINISH, reports(*held))
    one.waits()
    other.start(FINISH, reports(*reversed(held)))
    other.waits()
    open_gate()
    assert one.ends() == other.ends() == [("ok", False)] * 20
    race.healthy()


@pytest.mark.parametrize("order", ["ab", "ba"])
@pytest.mark.parametrize("end", ["commit", "kill"])
def test_siblings_that_finish_concurrently_open_the_fan_in_once(
    race: Race, order: str, end: str
) -> None:
    run = race.run("fanin")
    held = {c.name[-1]: c for c in claim(race, 2)}
    first, second = race.session(), race.nonblocking()
    first.begin()
    assert finish(first, held[order[0]]) == [("ok", False)]
    assert finish(second, held[order[1]]) == [("ok", True)]
    race.healthy()
    if end == "commit":
        first.commit()
    else:
        first.kill()
        race.healthy()
        assert finish(race, held[order[0]]) == [("ok", False)]
    race.settle()
    assert race.statuses(run)["fanin/c"] == "queued"
    race.complete_all()
    assert race.run_status(run) == "completed"


def test_siblings_that_leave_the_fan_in_to_each_other_lose_no_event(race: Race) -> None:
    """A third session locks the run, so neither applies its event, and neither event is lost."""
    run = race.run("fanin")
    held = claim(race, 2)
    third, one, other = race.session(), race.nonblocking(), race.nonblocking()
    third.begin()
    third.rows("select from qwf.runs where id = %s for no key update", run)
    one.begin()
    other.begin()
    assert finish(one, held[0]) == [("ok", True)]
    assert finish(other, held[1]) == [("ok", True)]
    third.rollback()
    race.healthy()
    one.commit()
    other.commit()
    race.healthy()
    assert race.one("select qwf.drain_outbox()") == 2
    assert race.statuses(run)["fanin/c"] == "queued"


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_one_sibling_fails_while_the_other_completes(race: Race, order: str) -> None:
    run = race.run("fanin")
    held = {c.name[-1]: c for c in claim(race, 2)}
    outcome = {"a": "completed", "b": "fatal"}
    first, second = race.session(), race.nonblocking()
    first.begin()
    finish(first, held[order[0]], outcome=outcome[order[0]])
    finish(second, held[order[1]], outcome=outcome[order[1]])
    first.commit()
    race.settle()
    assert race.run_status(run) == "failed"
    assert race.statuses(run) == {
        "fanin/a": "completed",
        "fanin/b": "failed",
        "fanin/c": "cancelled",
    }


@pytest.mark.parametrize("where", ["own", "dependant"])
def test_a_finish_killed_in_the_middle_can_be_reported_again(race: Race, where: str) -> None:
    run = race.run("chain")
    (held,) = claim(race)
    stuck = held.job if where == "own" else race.job(run, "chain/b")
    open_gate = race.gate("qwf.jobs", f"old.id = {stuck} and new.status in ('completed', 'queued')")
    worker = race.session()
    worker.start(FINISH, reports(held))
    worker.waits()
    worker.kill()
    open_gate()
    assert race.status(held.job) == "running"
    race.healthy()
    assert finish(race, held) == [("ok", False)]
    race.complete_all()
    assert race.run_status(run) == "completed"
    assert race.one("select max(attempt) from qwf.jobs") == 1


def test_a_finish_whose_fan_out_takes_too_long_still_ends_the_job(race: Race) -> None:
    """A statement timeout in the fan-out is an error of the fan-out only."""
    run = race.run("chain")
    (held,) = claim(race)
    open_gate = race.gate("qwf.jobs", f"old.id = {race.job(run, 'chain/b')}")
    worker = race.session(statement_timeout="4s")
    worker.start(FINISH, reports(held))
    assert worker.ends() == [("ok", True)]
    assert race.status(held.job) == "completed"
    open_gate()
    race.complete_all()
    assert race.run_status(run) == "completed"


def test_heartbeat_does_not_wait_for_a_finish(race: Race) -> None:
    race.rows("select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 2)")
    held = claim(race, 2)
    worker, beating = race.session(), race.nonblocking()
    worker.begin()
    finish(worker, held[0])
    beat = "select token::text, verdict from qwf.heartbeat('w', %s::uuid[])"
    tokens = [c.token for c in held]
    assert beating.rows(beat, tokens) == [(held[1].token, "ok")]
    assert beating.one("select qwf.progress(%s, %s, 0.5)", *held[0][:2]) == "ok"
    worker.commit()
    assert sorted(beating.rows(beat, tokens)) == sorted([(tokens[0], "lost"), (tokens[1], "ok")])


def test_finish_after_an_open_heartbeat(race: Race) -> None:
    job = race.one("select qwf.enqueue('t', queue => 'cpu')")
    (held,) = claim(race)
    beating, worker = race.session(), race.session()
    beating.begin()
    beating.rows("select * from qwf.heartbeat('w', array[%s]::uuid[], '1 h')", held.token)
    race.reclaim_skips_locked(job)
    worker.start(FINISH, reports(held, outcome="released"))
    worker.waits()
    beating.commit()
    assert worker.ends() == [("ok", False)]
    assert race.rows("select status, failures, losses from qwf.jobs") == [("queued", 0, 0)]
    race.healthy()


@pytest.mark.parametrize("first", ["heartbeat", "reclaim"])
def test_a_heartbeat_that_comes_late(race: Race, first: str) -> None:
    job = race.one("select qwf.enqueue('t', queue => 'cpu')")
    (held,) = claim(race)
    race.expire_leases(job)
    opening, closing = race.session(), race.nonblocking()
    beat = "select verdict from qwf.heartbeat('w', array[%s]::uuid[])"
    opening.begin()
    if first == "heartbeat":
        assert opening.rows(beat, held.token) == [("ok",)]
        assert closing.rows("select _qwf.reclaim()") == []
        opening.commit()
        assert closing.rows("select _qwf.reclaim()") == []
        assert race.status(job) == "running"
    else:
        assert opening.rows("select _qwf.reclaim()") == [(job,)]
        assert closing.rows(beat, held.token) == []
        opening.commit()
        assert closing.rows(beat, held.token) == [("lost",)]


def test_bad_files_in_one_report_do_not_fail_the_batch(race: Race) -> None:
    """A path may exceed the size of an index entry; the other jobs end all the same."""
    race.rows("select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 2)")
    held = claim(race, 2)
    path = race.one(
        "select string_agg(sha512(i::text::bytea)::text, '/') from generate_series(1, 30) i"
    )
    files = [{"rel_path": path, "size_bytes": 1}, {"rel_path": "ok", "size_bytes": 1.5}, 7, None]
    assert finish(race, *held, detail={"files": files}) == [("ok", False)] * 2
    race.healthy()


def test_a_lease_is_always_finite(race: Race) -> None:
    """A worker cannot keep a job forever by asking for an endless lease."""
    race.rows("select qwf.enqueue('t', queue => 'cpu')")
    for lease in ("1000 years", "infinity"):
        call = "select * from qwf.claim('cpu', 'w', 1, %s)"
        # PostgreSQL 15 knows no endless interval
        assert race.sqlstate(call, lease) in ("QW005", "22007")
    endless = "select count(*) from qwf.jobs where lease_expires_at > now() + interval '100 d'"
    assert race.one(endless) == 0


def test_the_release_of_a_worker_waits_for_a_report_about_jobs_of_two_queues(race: Race) -> None:
    race.rows("select qwf.create_queue('mail', keep_completed => false)")
    jobs = [race.one("select qwf.enqueue('t', queue => %s)", q) for q in ("cpu", "mail")]
    held = [*claim(race), *claim(race, queue="mail")]
    other, worker, engine = race.session(), race.session(), race.session()
    other.begin()
    other.rows("select from qwf.jobs where id = %s for update", jobs[0])
    worker.start(FINISH, reports(*held))
    worker.waits()
    race.nonblocking().rows("select from qwf.jobs where id = %s for update", jobs[1])
    engine.start("select qwf.deregister_worker('w')")
    engine.waits()
    other.commit()
    assert worker.ends() == [("ok", False), ("ok", False)]
    engine.ends()
    race.healthy()


def test_jobs_that_leave_a_row_and_others_are_locked_by_id(race: Race) -> None:
    """Else whoever holds the first job and wants the second, and a report of both, would wait for
    each other."""
    race.rows("select qwf.create_queue('cpu', keep_completed => false)")
    race.rows("select qwf.enqueue('leaves_none', queue => 'cpu')")
    race.rows("select qwf.enqueue('stays', queue => 'cpu', key => 'k', once => true)")
    first, second = sorted(claim(race, 2), key=lambda one: one[0])
    holder, reporter = race.session(), race.session()
    lock = "select from qwf.jobs where id = %s for no key update"
    holder.begin()
    holder.rows(lock, first[0])
    reporter.start(FINISH, reports(second, first))
    reporter.waits()
    holder.rows(lock, second[0])
    holder.commit()
    assert [verdict for verdict, _ in reporter.ends()] == ["ok", "ok"]
    assert race.rows("select task, status from qwf.jobs") == [("stays", "completed")]
    race.healthy()
