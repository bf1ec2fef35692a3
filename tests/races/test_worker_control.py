"""Orders to workers: who is notified, and the effect of uncommitted orders."""

from __future__ import annotations

from support.interleave import Race, Session, claim, finish


def listening(race: Race) -> Session:
    session = race.session()
    session.rows("listen worker_control")
    return session


def heard(session: Session) -> list[str]:
    """Payloads received so far; the round trip fetches those sent before it."""
    session.rows("select 1")
    return [n.payload for n in session.conn.notifies(timeout=0)]


def test_an_order_is_sent_at_commit(race: Race) -> None:
    agent, operator = listening(race), race.session()
    operator.begin()
    operator.rows("select qwf.worker_control('box', 'cpu', 'off')")
    assert heard(agent) == []
    operator.commit()
    assert heard(agent) == ["box:cpu"]
    race.rows("select qwf.worker_control('box', 'cpu', 'off', acting_for => 'another')")
    assert heard(agent) == []  # nothing has changed
    race.rows("update qwf.worker_controls set stop_policy = 'drain'")
    assert heard(agent) == ["box:cpu"]
    race.rows("delete from qwf.worker_controls")
    assert heard(agent) == ["box:cpu"]


def test_a_rolled_back_order_is_not_sent(race: Race) -> None:
    agent, operator = listening(race), race.session()
    operator.begin()
    operator.rows("select qwf.worker_control('box', 'cpu', 'off')")
    operator.rollback()
    assert heard(agent) == []
    assert race.one("select count(*) from qwf.switched_off") == 0


def test_an_open_order_blocks_no_claim_and_counts_from_its_commit(race: Race) -> None:
    race.rows("select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 3)")
    worker = race.one("select qwf.register_worker('box', 'cpu')")
    operator, agent = race.session(), race.nonblocking()
    operator.begin()
    operator.rows("select qwf.worker_control('box', 'cpu', 'off')")
    held = claim(agent, worker=worker)
    assert len(held) == 1
    operator.commit()
    assert claim(agent, worker=worker) == []
    assert finish(agent, *held, outcome="released") == [("ok", False)]
    assert claim(race, 3, worker="another")[0].job == held[0].job  # first in its band
    assert race.one("select max(losses) + max(failures) from qwf.jobs") == 0
    race.healthy()


def test_an_uncommitted_claim_blocks_no_order(race: Race) -> None:
    race.rows("select qwf.enqueue('t', queue => 'cpu')")
    worker = race.one("select qwf.register_worker('box', 'cpu')")
    agent = race.session()
    agent.begin()
    assert claim(agent, worker=worker)
    race.nonblocking().rows("select qwf.worker_control('box', 'cpu', 'off')")
    agent.commit()
    assert race.one("select state from qwf.worker_orders(%s)", worker) == "off"


BEAT = "select verdict from qwf.heartbeat(%s, array[%s]::uuid[])"


def test_a_hard_off_tells_a_worker_that_reads_no_orders_to_send_a_heartbeat(race: Race) -> None:
    plain = race.one("select qwf.register_worker('box', 'cpu')")
    agent = race.one("""select qwf.register_worker('box', 'cpu', '{"follows_orders": true}')""")
    worker = race.session()
    for one in (plain, agent):
        channel = race.one("select qwf.wake_channel(%s)", one)
        worker.rows(f'listen "{channel}"')
    race.rows("select qwf.worker_control('box', 'cpu', 'off', 'drain')")
    assert heard(worker) == []
    race.rows("select qwf.worker_control('box', 'cpu', 'off', 'hard')")
    assert heard(worker) == ["cancel"]  # the agent reads its orders


def test_a_report_before_the_heartbeat_of_a_worker_that_is_off_hard_counts(race: Race) -> None:
    race.rows("select qwf.enqueue('t', queue => 'cpu')")
    worker = race.one("select qwf.register_worker('box', 'cpu')")
    (held,) = claim(race, worker=worker)
    race.rows("select qwf.worker_control('box', 'cpu', 'off')")
    reporter = race.session()
    reporter.begin()
    assert finish(reporter, held) == [("ok", False)]
    assert race.nonblocking().rows(BEAT, worker, held.token) == []  # locked: ask again
    reporter.commit()
    assert race.rows(BEAT, worker, held.token) == [("lost",)]
    assert race.one("select status from qwf.jobs") == "completed"
    race.healthy()


def test_a_report_after_the_heartbeat_of_a_worker_that_is_off_hard_is_lost(race: Race) -> None:
    race.rows("select qwf.enqueue('t', queue => 'cpu')")
    worker = race.one("select qwf.register_worker('box', 'cpu')")
    (held,) = claim(race, worker=worker)
    race.rows("select qwf.worker_control('box', 'cpu', 'off')")
    beating, reporter = race.session(), race.session()
    beating.begin()
    assert beating.rows(BEAT, worker, held.token) == [("lost",)]
    reporter.start("select qwf.finish(%s, %s, 'completed')", held.job, held.token)
    reporter.waits()
    beating.commit()
    assert reporter.ends() == [("lost",)]
    assert race.one("select status from qwf.jobs") == "queued"
    assert race.one("select count(*) from qwf.job_attempts") == 1
    assert race.one("select max(losses) + max(failures) from qwf.jobs") == 0
    race.healthy()
