"""Tasks that are held back because they crash: two crashes at once, and the trial of one job
against whoever claims, reports, resumes or registers at that moment."""

from __future__ import annotations

import pytest

from support.interleave import Claim, Race, Session, claim, finish, reports

CRASHED = {"outcome": "lost", "detail": {"reason": "crashed"}}
FINISH = "select verdict from qwf.finish_many(%s)"
STATE = (
    "select string_agg(format('%%s %%s %%s', array_to_string(h.hosts, ','), h.crashes,"
    " case when h.trial_job is not null then 'trial' when h.until is not null then 'held'"
    " else 'noted' end), '; ') from qwf.held_tasks h"
)


@pytest.fixture
def boxes(race: Race) -> list[str]:
    """Workers on three boxes."""
    return [race.one("select qwf.register_worker(%s, 'cpu')", f"box-{b}") for b in "abc"]


def enqueue(race: Race, count: int = 1) -> None:
    race.rows(
        "select qwf.enqueue('killer', queue => 'cpu', max_losses => 20)"
        " from generate_series(1, %s)",
        count,
    )


def crash(session: Session, *claims: Claim) -> None:
    assert {verdict for verdict, *_ in finish(session, *claims, **CRASHED)} == {"ok"}


def hold(race: Race, boxes: list[str]) -> None:
    """Let the task crash on two boxes."""
    for box in boxes[:2]:
        crash(race, *claim(race, 1, worker=box))
    assert race.one(STATE) == "box-a,box-b 2 held"


def due(race: Race) -> None:
    """End the time for which the task is held."""
    race.rows("update qwf.held_tasks set until = qwf.now() - interval '1 s'")


def told(race: Race) -> set[tuple[str, ...]]:
    """The lists of held tasks that the workers have been told."""
    return {tuple(tasks or ()) for (tasks,) in race.rows("select held_tasks from qwf.workers")}


def test_two_crashes_at_once_are_both_counted(race: Race, boxes: list[str]) -> None:
    enqueue(race, 2)
    (one,), (two,) = claim(race, 1, worker=boxes[0]), claim(race, 1, worker=boxes[1])
    first, second = race.session(), race.session()
    first.begin()
    crash(first, one)
    second.start(FINISH, reports(two, **CRASHED))
    second.waits()
    first.commit()
    assert second.ends() == [("ok",)]
    assert race.one(STATE) == "box-a,box-b 2 held"
    assert told(race) == {("killer",)}
    assert race.one("select count(*) from _qwf.event_log where kind = 'task_held'") == 1
    race.healthy()


def test_the_end_of_a_hold_waits_for_no_worker_of_a_transaction_that_reports_a_crash(
    race: Race, boxes: list[str]
) -> None:
    """It would be a deadlock: the one holds the row of a worker and waits for that of the task, the
    other the other way round. The worker is told by the next tick."""
    enqueue(race, 4)
    running = claim(race, 1, worker=boxes[2])
    hold(race, boxes)
    due(race)
    race.settle()
    finish(race, *claim(race, 1, worker=boxes[2]))
    worker = race.session()
    worker.begin()
    worker.rows("select qwf.update_worker(%s, '{\"models\": null}')", boxes[0])
    tick = race.nonblocking()
    tick.begin()
    assert "errors" not in tick.one("select qwf.tick()")
    worker.start(FINISH, reports(*running, **CRASHED))
    worker.waits()
    tick.commit()
    assert worker.ends() == [("ok",)]
    worker.commit()
    assert told(race) == {(), ("killer",)}
    race.settle()
    assert told(race) == {()}
    assert race.one(STATE) == "box-c 1 noted"


def test_two_workers_that_register_at_once_end_holds_in_one_order(race: Race) -> None:
    race.rows(
        "insert into qwf.held_tasks (queue, task, hosts, crashes, other_ends, crashed_at, until)"
        " select 'cpu', t, '{a,b}', 2, 0, qwf.now(), qwf.now() + interval '1 h'"
        " from unnest('{z,y,x}'::text[]) t"
    )
    first, second = race.session(), race.session()
    first.begin()
    first.rows("select from qwf.held_tasks h where h.task = 'x' for update")
    register = 'select qwf.register_worker(\'box\', \'cpu\', \'{"tasks": ["z", "y", "x"]}\')'
    second.start(register)
    second.waits()
    first.rows("select from qwf.held_tasks h where h.task = 'z' for update nowait")
    first.commit()
    second.ends()
    assert race.one("select count(*) from qwf.held_tasks where until > qwf.now()") == 0


def test_a_trial_takes_the_next_job_if_somebody_has_locked_the_first(
    race: Race, boxes: list[str]
) -> None:
    enqueue(race, 3)
    hold(race, boxes)
    due(race)
    first = race.one(
        "select id from qwf.jobs where status = 'queued' order by priority, position limit 1"
    )
    other = race.session()
    other.begin()
    other.rows("select qwf.change_job(%s, priority => 5)", first)
    assert "errors" not in race.nonblocking().one("select qwf.tick()")
    trial = race.one("select trial_job from qwf.held_tasks")
    assert trial not in (None, first)
    other.commit()
    assert [c.job for c in claim(race, 9, worker=boxes[2])] == [trial]


def test_a_trial_that_is_being_claimed_is_not_chosen_again(race: Race, boxes: list[str]) -> None:
    enqueue(race, 3)
    hold(race, boxes)
    due(race)
    race.settle()
    worker = race.session()
    worker.begin()
    (trial,) = claim(worker, 9, worker=boxes[2])
    race.settle()
    assert claim(race, 9, worker=boxes[0]) == []
    worker.commit()
    race.settle()
    assert race.one("select trial_job from qwf.held_tasks") == trial.job
    crash(race, trial)
    assert race.one(STATE) == "box-a,box-b,box-c 3 held"


def test_a_person_who_resumes_a_task_waits_for_the_trial_and_changes_nothing_of_it(
    race: Race, boxes: list[str]
) -> None:
    enqueue(race, 3)
    hold(race, boxes)
    due(race)
    tick, person = race.session(), race.session()
    tick.begin()
    tick.one("select qwf.tick()")
    person.start("select qwf.resume_queue('cpu', task => 'killer')")
    person.waits()
    tick.commit()
    person.ends()
    race.settle()
    assert race.one(STATE) == "box-a,box-b 2 trial"
    assert len(claim(race, 9, worker=boxes[2])) == 1
    assert claim(race, 9, worker=boxes[0]) == []


def test_a_person_who_resumes_a_task_that_is_back_meanwhile_is_told(
    race: Race, boxes: list[str]
) -> None:
    enqueue(race, 3)
    hold(race, boxes)
    due(race)
    race.settle()
    finish(race, *claim(race, 1, worker=boxes[2]))
    tick, person = race.session(), race.session()
    tick.begin()
    tick.one("select qwf.tick()")
    person.start("select qwf.resume_queue('cpu', task => 'killer')")
    person.waits()
    tick.commit()
    with pytest.raises(Exception, match="no such held task"):
        person.ends()
    assert len(claim(race, 9, worker=boxes[2])) == 2


def test_a_trial_waits_for_a_queue_that_was_paused_meanwhile(race: Race, boxes: list[str]) -> None:
    enqueue(race, 3)
    hold(race, boxes)
    due(race)
    race.settle()
    race.rows("select qwf.pause_queue('cpu')")
    race.settle()
    assert claim(race, 9, worker=boxes[2]) == []
    race.rows("select qwf.resume_queue('cpu')")
    race.settle()
    (trial,) = claim(race, 9, worker=boxes[2])
    assert trial.job == race.one("select trial_job from qwf.held_tasks")
    finish(race, trial)
    race.settle()
    assert (race.one(STATE), len(claim(race, 9, worker=boxes[2]))) == (None, 2)
    race.healthy()
