"""Bugs that tests put into the engine on purpose, one at a time."""

from __future__ import annotations

import psycopg

# function, what its text says, what it says with the bug in it
BUGS = {
    "the token is not checked": (
        "qwf.finish_many",
        "j.id = r.job_id and j.token = r.token",
        "j.id = r.job_id and j.token is not null",
    ),
    "a release is counted": (
        "_qwf.transition",
        "(p_outcome = 'lost')::int",
        "(p_outcome in ('lost', 'released'))::int",
    ),
    "skips do not cascade": (
        "_qwf.apply_events",
        "'skipped', 'failed'",
        "'failed'",
    ),
    "a dependency is counted off twice": (
        "_qwf.open_dependants",
        "select s.run_id, e.to_idx, count(*)::int",
        "select s.run_id, e.to_idx, 2 * count(*)::int",
    ),
    "the event is lost where somebody holds the run": (
        "_qwf.apply_where_free",
        "where e.run_id <> all (v_locked)",
        "where false",
    ),
    "the event is lost when applying it is rolled back": (
        "_qwf.apply_where_free",
        "v_error := sqlstate || ' ' || sqlerrm;",
        "v_left := null;",
    ),
    "a worker that is off is handed jobs": (
        "qwf.claim",
        "if v_terms.closed then return; end if;",
        "",
    ),
    "a job goes back to the host that lost it": (
        "_qwf.fits",
        "or not _qwf.another_host_can(p_job, p_now)",
        "or true",
    ),
    "a job is left to a worker that cannot run it": (
        "_qwf.yields",
        "and _qwf.fits(v_job, w, p_now)",
        "",
    ),
    "jobs above a lowered limit do not count": (
        "_qwf.lock_permits",
        "a.slot > v_limit.max_running",
        "false",
    ),
    "a call puts a job off beyond its latest start": (
        "_qwf.change_merged",
        "v_asked, v_start_by, case",
        "v_asked, case",
    ),
    "a job that is queued is not put off": (
        "_qwf.change_merged",
        "coalesce(v_bound, v_starts)",
        "v_starts",
    ),
    "a loaded model is preferred for ever": (
        "_qwf.pick",
        "< (select s.affinity_max_wait from qwf.settings s)",
        "is not null",
    ),
}


def put_in(dsn: str, function: str, text: str, bug: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        ((source,),) = conn.execute(
            "select pg_get_functiondef(p.oid) from pg_proc p where p.oid = to_regproc(%s)",
            [function],
        ).fetchall()
        assert source.count(text) == 1, f"{function} has changed: plant the bug in its new text"
        conn.execute(source.replace(text, bug))
