"""A fan-out that exceeds statement_timeout delays only its own run."""

from __future__ import annotations

from support.interleave import Race, Session, claim, finish


def hold(race: Race, run: int) -> Session:
    """A session that keeps the run locked, so that its events stay in the outbox."""
    holder = race.session()
    holder.begin()
    holder.rows("select from qwf.runs where id = %s for no key update", run)
    return holder


def test_a_drain_that_takes_too_long_continues_with_half_of_its_runs(race: Race) -> None:
    slow, other = race.run("chain"), race.run("chain")
    holders = [hold(race, slow), hold(race, other)]
    finish(race, *claim(race, 2))
    for holder in holders:
        holder.rollback()
    race.rows("update qwf.outbox set created_at = created_at - interval '1 min'")
    race.gate("qwf.jobs", f"old.run_id = {slow} and old.status = 'blocked'")  # never opened
    agent = race.session(statement_timeout="6s")

    agent.rows("select qwf.tick()")  # both at once take too long
    race.rows("update qwf.outbox set next_try_at = next_try_at - interval '10 s'")
    agent.rows("select qwf.tick()")  # ten seconds later, one of them
    tries = "select run_id, tries, error from qwf.outbox order by id"
    alone = (slow, 1, "57014 it took longer than statement_timeout")
    assert race.rows(tries) == [alone, (other, 0, None)]
    race.rows("update qwf.outbox set next_try_at = now() where run_id = %s", other)
    agent.rows("select qwf.tick()")
    assert race.statuses(other)["chain/b"] == "queued"
    assert race.rows(tries) == [alone]


def test_who_cancels_drains_after_a_moment_fails_no_run(race: Race) -> None:
    run = race.run("chain")
    holder = hold(race, run)
    finish(race, *claim(race))
    holder.rollback()
    hasty = race.session(statement_timeout="100ms")
    open_gate = race.gate("qwf.jobs", f"old.run_id = {run} and old.status = 'blocked'")
    for _ in range(6):
        race.rows("update qwf.outbox set next_try_at = null")
        assert hasty.sqlstate("select qwf.drain_outbox()") == "57014"
    assert race.rows("select tries, error from qwf.outbox") == [(0, None)]
    open_gate()
    race.settle()
    assert race.statuses(run)["chain/b"] == "queued"
