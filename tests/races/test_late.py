"""Work that is found late while it ends, and while it is retried."""

from __future__ import annotations

from support.interleave import Race

TOLD = "select count(*) from _qwf.event_log where kind = 'run_late'"
JUDGE = "select _qwf.judge()"


def late_run(race: Race) -> int:
    """A run that has waited for longer than its workflow expects."""
    race.rows(
        'select qwf.register_workflow(\'{"name": "w", "expect": {"starts_within": "1 min"},'
        ' "steps": [{"id": "a", "node": "a", "queue": "cpu"}]}\')'
    )
    run = race.one("select qwf.enqueue_run('w')")
    race.rows("update qwf.runs set created_at = created_at - interval '1 h'")
    return int(run)


def test_a_run_that_ends_at_the_same_moment_is_not_late(race: Race) -> None:
    run, person, tick = late_run(race), race.session(), race.session()
    person.begin()
    person.rows("select qwf.cancel_run(%s)", run)
    assert tick.one(JUDGE) == 0  # the run is locked: it waits for nobody
    assert race.one(TOLD) == 0
    person.commit()
    race.rows("update _qwf.judged set at = null")
    assert race.one(JUDGE) == 0
    assert race.one(TOLD) == 0


def test_two_ticks_tell_of_a_late_run_once(race: Race) -> None:
    late_run(race)
    one, other = race.session(), race.session()
    one.begin()
    assert one.one(JUDGE) == 1
    assert other.one(JUDGE) == 0
    one.commit()
    assert other.one(JUDGE) == 0
    assert race.one(TOLD) == 1


def test_a_tick_that_is_rolled_back_tells_again(race: Race) -> None:
    late_run(race)
    tick = race.session()
    tick.begin()
    assert tick.one(JUDGE) == 1
    tick.rollback()
    assert race.one(TOLD) == 0
    assert race.one(JUDGE) == 1
    assert race.one(TOLD) == 1


def test_two_ticks_learn_of_an_end_once(race: Race) -> None:
    race.rows("select qwf.cancel_run(%s)", late_run(race))
    race.rows("select _qwf.number_events()")
    one, other = race.session(), race.session()
    one.begin()
    assert one.one("select _qwf.learn_runs()") > 0
    assert other.one("select _qwf.learn_runs()") == 0
    one.commit()
    assert other.one("select _qwf.learn_runs()") == 0
    assert race.one("select jsonb_array_length(last) from qwf.usual where kind = 'run'") == 1
