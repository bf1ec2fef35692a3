"""A claim passes keys whose jobs do not fit its worker, and misses none that does."""

from __future__ import annotations

import json

import pytest

from support.interleave import Race, Session, claim, finish

FILL = """
    select count(*) from qwf.enqueue_many((select jsonb_agg(jsonb_build_object(
      'task', 't', 'queue', 'cpu', 'limit_by', 'customer:' || %s || k, 'light', %s::boolean,
      'requires', %s::jsonb)) from generate_series(1, %s) k))"""
ONE = "select qwf.enqueue('t', queue => 'cpu', limit_by => 'customer:' || %s, light => true)"
SCANS = """
    select idx_scan from pg_stat_xact_user_tables where relid = 'qwf.jobs'::regclass"""


@pytest.fixture(params=["ordinary", "rated"])
def line(race: Race, request: pytest.FixtureRequest) -> Race:
    """A limit by key; beside it one with a rate, so that claims count starts."""
    race.rows("select qwf.create_limit('customer', 2, keyed => true)")
    if request.param == "rated":
        race.rows("select qwf.create_limit('rated', 1, starts => 1, keyed => true)")
    return race


def unfit(race: Race, keys: int, name: str = "gpu ", light: bool = True, **labels: str) -> None:
    """Jobs of so many keys that require labels."""
    race.rows(FILL, name, light, json.dumps(labels), keys)


def counted(session: Session, jobs: int = 1) -> int:
    """How much of the table of jobs a claim reads that gets one job, which ends at once."""
    session.begin()
    before = session.one(SCANS) or 0
    got = claim(session, jobs)
    after = session.one(SCANS)
    session.commit()
    assert len(got) == 1
    finish(session, *got)
    return int(after - before)


def test_a_claim_passes_jobs_that_do_not_fit_in_one_probe(line: Race) -> None:
    unfit(line, 600, gpu="yes")
    for _ in range(3):
        line.rows(ONE, "fits")
    assert max(counted(line.session()) for _ in range(3)) < 200


def test_a_new_job_among_those_that_a_session_has_passed_is_found(line: Race) -> None:
    unfit(line, 3_000, gpu="yes")
    worker = line.session()
    for nth in range(5):
        line.rows(ONE, f"fits {nth}")
        assert len(claim(worker, 9)) == 1
        assert claim(worker) == []


def test_a_new_job_is_found_by_a_session_that_was_always_served(line: Race) -> None:
    unfit(line, 3_000, gpu="yes")
    worker = line.session()
    line.stop_clock()
    for _ in range(6):
        line.rows(ONE, "fits")
    for _ in range(6):
        counted(worker)
    line.rows(ONE, "late")
    assert len(claim(worker)) == 1


def test_a_later_job_of_a_key_is_found_behind_many_that_do_not_fit(line: Race) -> None:
    for _ in range(150):
        unfit(line, 2, gpu="yes")
    last = [line.one(ONE, f"gpu {key}") for key in (1, 2)]
    assert sorted(c.job for c in claim(line.session(), 9)) == last


def test_a_later_job_of_a_key_is_found_behind_those_of_another_host(line: Race) -> None:
    unfit(line, 400, gpu="yes")
    for _ in range(3):
        unfit(line, 3, host="b")
    last = [line.one(ONE, f"gpu {key}") for key in (1, 2, 3)]
    assert sorted(c.job for c in claim(line.session(), 9)) == last


def test_a_claim_of_light_jobs_hides_no_other(line: Race) -> None:
    unfit(line, 1_500, light=False)
    line.rows(ONE, "light")
    line.rows("select qwf.enqueue('t', queue => 'gpu') from generate_series(1, 100)")
    worker = line.session()
    light = "select count(*) from qwf.claim('cpu', 'w', 1, light_only => true)"
    assert [worker.one(light) for _ in range(2)] == [1, 0]
    assert len(claim(worker, 9)) == 9


def test_a_claim_does_not_jump_over_a_job_of_another_host(line: Race) -> None:
    """Else it would move the turns of all others: see test_shared_turns."""
    unfit(line, 3_000, gpu="yes")
    unfit(line, 40, "b ", host="b")
    for nth in range(12):
        line.rows(ONE, f"fits {nth % 2}")
    worker = line.session()
    place = "select array_agg(last_value) from pg_sequences where sequencename ~ 'turn_place'"
    before = line.one(place)
    for _ in range(12):
        finish(worker, *claim(worker))
    assert line.one(place) == before
