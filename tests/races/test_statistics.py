"""Rolling up statistics during finishes and other roll-ups: every attempt counts once."""

from __future__ import annotations

import threading

from support.interleave import Race, claim, finish

FOLD = "select _qwf.roll_up_counts()"
COUNTED = "select coalesce(sum(count), 0)::int from qwf.job_stats"


def jobs(race: Race, number: int) -> None:
    race.rows("select qwf.enqueue('a', queue => 'cpu') from generate_series(1, %s)", number)


def test_no_session_waits_for_an_open_roll_up(race: Race) -> None:
    jobs(race, 2)
    finish(race, *claim(race))
    folder, other = race.session(), race.nonblocking()
    folder.begin()
    assert folder.one(FOLD) == 1
    assert other.one(FOLD) == 0
    assert finish(other, *claim(other)) == [("ok", False)]
    folder.commit()
    assert race.one(COUNTED) == 1
    assert race.one(FOLD) == 1
    assert race.one(COUNTED) == 2


def test_a_rolled_back_roll_up_counts_nothing(race: Race) -> None:
    jobs(race, 1)
    finish(race, *claim(race))
    folder = race.session()
    folder.begin()
    folder.rows(FOLD)
    folder.kill()
    assert race.one(COUNTED) == 0
    assert race.one(FOLD) == 1
    assert race.one(COUNTED) == 1


def test_an_uncommitted_finish_counts_later(race: Race) -> None:
    jobs(race, 1)
    worker = race.session()
    worker.begin()
    finish(worker, *claim(worker))
    assert race.nonblocking().one(FOLD) == 0
    worker.commit()
    assert race.one(FOLD) == 1
    assert race.one(COUNTED) == 1


def test_concurrent_roll_ups_and_workers_count_each_attempt_once(race: Race) -> None:
    jobs(race, 120)
    workers = [race.session() for _ in range(3)]
    folders = [race.session() for _ in range(3)]
    over = threading.Event()
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            while claimed := claim(workers[number], 2):
                finish(workers[number], *claimed)
        except BaseException as error:
            errors.append(error)

    def roll_up(number: int) -> None:
        try:
            while not over.is_set():
                folders[number].rows(FOLD)
        except BaseException as error:
            errors.append(error)

    working = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    folding = [threading.Thread(target=roll_up, args=(n,)) for n in range(3)]
    for thread in working + folding:
        thread.start()
    for thread in working:
        thread.join()
    over.set()
    for thread in folding:
        thread.join()
    assert errors == []
    race.rows(FOLD)
    assert race.one(COUNTED) == 120
    assert race.rows("select * from qwf.attempt_counts") == []
