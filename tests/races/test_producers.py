"""Nothing a producer calls in an open transaction makes a worker or the engine wait."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.interleave import Race, Session, claim, finish

BEAT = "select verdict from qwf.heartbeat('w', array[%s]::uuid[])"


def enqueue(race: Race, producer: Session) -> None:
    producer.rows("select qwf.enqueue('t', queue => 'cpu', key => 'k')")
    producer.rows('select * from qwf.enqueue_many(\'[{"task":"t","queue":"cpu"}]\')')


def enqueue_run(race: Race, producer: Session) -> None:
    producer.rows("select qwf.enqueue_run('asked_beside', key => 'k')")
    producer.rows("select qwf.enqueue_run('asked_beside', run_at => '2100-01-01')")


def taken_key(race: Race, producer: Session) -> None:
    producer.rows("select qwf.enqueue('held', queue => 'cpu', key => 'k')")
    producer.rows("select qwf.enqueue('waiting', queue => 'cpu', key => 'k')")


def cancel_the_run(race: Race, producer: Session) -> None:
    producer.rows("select qwf.cancel_run(max(id)) from qwf.runs")


def cancel_running_node(race: Race, producer: Session) -> None:
    producer.rows(
        "select qwf.cancel_job(id) from qwf.jobs where status = 'running' and run_id is not null"
    )


def cancel_blocked_node(race: Race, producer: Session) -> None:
    producer.rows("select qwf.cancel_job(id) from qwf.jobs where status = 'blocked'")


def cancel_standalone(race: Race, producer: Session) -> None:
    producer.rows("select qwf.cancel_job(id) from qwf.jobs where run_id is null")


def submit_input(race: Race, producer: Session) -> None:
    producer.rows("select qwf.submit_input(max(id), 'ask', '\"x\"') from qwf.runs")


def read(race: Race, producer: Session) -> None:
    producer.rows("select qwf.run_status(id) from qwf.runs")
    producer.rows("select qwf.result(id) from qwf.jobs")


@pytest.mark.parametrize(
    "produce",
    [
        enqueue,
        enqueue_run,
        taken_key,
        cancel_the_run,
        cancel_running_node,
        cancel_blocked_node,
        cancel_standalone,
        submit_input,
        read,
    ],
)
def test_an_open_transaction_blocks_no_worker(
    race: Race, produce: Callable[[Race, Session], None]
) -> None:
    race.run("asked_beside")
    race.rows("select qwf.enqueue('held', queue => 'cpu', key => 'k')")
    held = claim(race, 3)
    assert len(held) == 3
    race.rows("select qwf.enqueue('waiting', queue => 'cpu', key => 'k')")
    free = race.one("select qwf.enqueue('free', queue => 'gpu')")
    lapsed = race.one("select qwf.enqueue('lapsed', queue => 'gpu', priority => 1)")
    assert claim(race, 1, "gpu")[0].job == lapsed
    race.expire_leases(lapsed)
    producer, worker = race.session(), race.nonblocking()
    producer.begin()
    produce(race, producer)

    worker.rows("select qwf.sleep('w', 'cpu')")
    for job in held:
        assert worker.rows(BEAT, job.token) == [("ok",)]
        assert worker.one("select qwf.progress(%s, %s, 0.1)", job.job, job.token) == "ok"
    report = worker.one("select qwf.tick()")
    assert report["reclaimed"] == 1
    assert "errors" not in report
    assert free in {c.job for c in claim(worker, 10, "gpu")} or produce is cancel_standalone
    claim(worker, 10)
    assert {v for v, _ in finish(worker, *held[:2])} == {"ok"}
    assert finish(worker, held[2], outcome="released")[0][0] == "ok"
    assert "errors" not in worker.one("select qwf.tick()")
    worker.rows("select qwf.deregister_worker('w')")
    worker.rows("select qwf.wake('w')")
    assert race.rows("select error from qwf.outbox where error is not null") == []
    race.healthy()
    producer.commit()
    race.settle()
