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
        "_qwf.sort_events",
        "'skipped', 'cancelled'",
        "'cancelled'",
    ),
    "a dependency is counted off twice": (
        "_qwf.advance_runs",
        "select e.run_id, g.to_idx, count(*)::int",
        "select e.run_id, g.to_idx, 2 * count(*)::int",
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
    "a job keeps its deadline when it starts": (
        "qwf.claim",
        "if v_rare then delete",
        "if false then delete",
    ),
    "an answered question goes on waiting": (
        "_qwf.apply_answer",
        "delete from qwf.waits w where w.job_id = p_job.id;",
        "",
    ),
}


# What the tests of races find about events, the name of the test beside each.
EVENT_BUGS = {
    "test_numbers_are_durable_whatever_the_session_says": (
        "_qwf.number_events",
        "in ('off', 'local')",
        "in ('never')",
    ),
    "test_a_tick_with_an_old_snapshot_hides_nothing_from_the_next": (
        "_qwf.number_events",
        "and current_setting('transaction_isolation') = 'read committed'",
        "",
    ),
    "test_the_last_number_is_sent_once_when_it_commits": (
        "_qwf.number_events",
        "perform pg_notify('qwf_events', v_last::text);",
        "",
    ),
    "test_pruning_leaves_the_row_of_numbers_to_whoever_has_it": (
        "_qwf.prune_events",
        "where v_count > 0",
        "where false",
    ),
    "test_the_end_of_a_run_is_an_event_when_it_commits": (
        "_qwf.advance_runs",
        "where w.finished_at is not null",
        "where false",
    ),
    "test_a_restore_and_a_tick_do_not_give_one_number_to_two": (
        "qwf.begin_generation",
        "perform _qwf.restart_events('restored');",
        "",
    ),
    "test_an_event_that_commits_late_gets_a_later_number": (
        "_qwf.number_batch",
        "n.seq is null and n.id >= p_low",
        "n.seq is null and n.id > p_last",
    ),
}


# What the tests of races find about rates, the name of the test beside each.
CHILD_BUGS = {
    "test_two_runs_of_a_map_end_at_once": (
        "_qwf.apply_where_free",
        "return case when v_waits then v_locked end;",
        "return null;",
    ),
    "test_the_run_above_is_locked_while_a_run_ends": (
        "_qwf.report_runs",
        "return v_done.pending is not null;",
        "return false;",
    ),
    "test_two_runs_take_the_only_place_of_a_limit": (
        "_qwf.serve_runs",
        "if v_pick.limited then perform _qwf.use_permits(v_pick, v_taken, v_now); end if;",
        "",
    ),
    "test_the_run_above_is_cancelled_after_the_finish_of_a_run": (
        "_qwf.stop_children",
        "and c.finished_at is null and c.ending is null",
        "and false",
    ),
}
RATE_BUGS = {
    "test_an_open_claim_leaves_the_starts_that_it_could_not_begin_to_others": (
        "_qwf.pick_special",
        "v_startable int := coalesce(p_startable, 1);",
        "v_startable int := p_count;",
    ),
    "test_claims_with_reports_take_no_more_of_a_rate_than_could_begin": (
        "qwf.finish_and_claim",
        "finish_and_claim.light_only, finish_and_claim.startable)",
        "finish_and_claim.light_only, finish_and_claim.max_jobs)",
    ),
    "test_a_claim_that_leaves_jobs_of_a_rate_wakes_the_next_sleeper": (
        "_qwf.wake_another",
        "p_found = p_asked or p_pick.capped then\n    perform",
        "p_found = p_asked then\n    perform",
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
