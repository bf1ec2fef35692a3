"""Bugs that tests put into the engine on purpose, one at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import psycopg

# function, what its text says, what it says with the bug in it
BUGS = {
    "the token is not checked": (
        "qwf.finish_many",
        "j.id = r.job_id and j.token = r.token",
        "j.id = r.job_id and j.token is not null",
    ),
    "what may have run is tried again": (
        "_qwf.transition",
        "when 'lost' then true",
        "when 'lost' then false",
    ),
    "what runs at most once is claimed ahead": (
        "_qwf.supersede",
        "where p.rare and p.id <> all (coalesce",
        "where false and p.id <> all (coalesce",
    ),
    "a release is counted": (
        "_qwf.transition",
        "(o.outcome in ('lost', 'maybe_run'))::int",
        "(o.outcome in ('lost', 'maybe_run', 'released'))::int",
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
        "_qwf.after_ends",
        "where e.run_id <> all (v_locked)",
        "where false",
    ),
    "the event is lost when applying it is rolled back": (
        "_qwf.after_ends",
        "v_error := sqlstate || ' ' || sqlerrm;",
        "v_left := null;",
    ),
    "a claim starts a job of a key beside one of a limit": (
        "_qwf.mix_keyed",
        "where (not c.rated or c.starts <= p_startable) is not false",
        "where true",
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
    "a loaded model is always preferred": (
        "_qwf.pick",
        "< (select s.affinity_max_wait from qwf.settings s)",
        "is not null",
    ),
    "a job keeps its deadline when it starts": (
        "qwf.claim",
        "if v_rare then delete",
        "if false then delete",
    ),
    "a signal that came early is not kept": (
        "_qwf.take_kept_signal",
        "if v_fitting <> '{}' then",
        "if false then",
    ),
    "a signal answers though it does not fit": (
        "_qwf.serve_signal",
        "and not exists (select from _qwf.answer_problems(j.input_spec, p_signal.payload))",
        "",
    ),
    "a turn gets what the first one got": (
        "_qwf.next_turn",
        "jsonb_build_array(v_next.output)",
        "'[null]'",
    ),
    "a repeat goes on beyond its last turn": (
        "_qwf.turn_verdict",
        "v_turn.element + 1 >= (v_turn.repeat -> 'max')::int",
        "v_turn.element + 1 > (v_turn.repeat -> 'max')::int",
    ),
    "turns do not wait": (
        "_qwf.next_turn",
        "_qwf.as_interval(v_next.repeat -> 'every')",
        "null",
    ),
    "a node is delayed each time it is looked at": (
        "_qwf.open_guarded",
        "case when j.run_at is null or j.run_at = r.run_at then n.delay end",
        "n.delay",
    ),
    "a node that is skipped waits": (
        "_qwf.open_guarded",
        "not _qwf.is_true(v_skip.value) and v_node.delay is not null",
        "v_node.delay is not null",
    ),
    "a map goes on though enough have completed": (
        "_qwf.map_verdict",
        "v_map.remaining_deps = 0 or v_map.stop_when_reached",
        "v_map.remaining_deps = 0 or false",
    ),
    "elements go on though enough have completed": (
        "_qwf.sort_events",
        "select m.remaining_deps > 0 from",
        "select false from",
    ),
    "another try of a step begins with a new run": (
        "_qwf.serve_run",
        "v_job.run_id is not null and (v_old.status is distinct from 'failed'",
        "v_job.run_id is not null and (true",
    ),
    "the run of a step goes on when the step is stopped": (
        "_qwf.stop_children",
        "and c.finished_at is null and c.ending is null",
        "and false",
    ),
    "the runs of steps take no place of their limit": (
        "_qwf.serve_runs",
        "if v_pick.limited then perform _qwf.use_permits(v_pick, v_taken, v_now); end if;",
        "",
    ),
    "the run of a step may take longer than the step": (
        "_qwf.insert_children",
        "least(p_now + g.deadline, p_now + (j.options).timeout, a.deadline_at)",
        "p_now + g.deadline",
    ),
    "keys share the starts of a limit": (
        "_qwf.room_of_key",
        "where p_starts is not null and s.name = p_name and u > p_now - p_per",
        "where u > p_now - p_per",
    ),
    "an earlier start of a key is forgotten": (
        "_qwf.use_key_starts",
        "where o.name = j.limit_by",
        "where false",
    ),
    "a run in line that failed is not tried again": (
        "_qwf.report_runs",
        "where r.id = f.run_id and f.status = 'failed'",
        "where r.id = f.run_id and false",
    ),
    "a run in line leaves its place while a body runs": (
        "_qwf.end_run",
        "(j.run_if is not null or v_place = 'running')",
        "j.run_if is not null",
    ),
    "a run that is cancelled in line takes back at once": (
        "_qwf.wake_compensations",
        "elsif p_waits then",
        "elsif false then",
    ),
    "a retry takes back nothing first": (
        "_qwf.plan_retry",
        "      where v_first\n",
        "      where false\n",
    ),
    "a retry in line is not counted": (
        "_qwf.line_up_again",
        "retries = j.retries + 1, ",
        "",
    ),
    "an answered question goes on waiting": (
        "_qwf.apply_answer",
        "delete from qwf.waits w where w.job_id = p_job.id;",
        "",
    ),
}


# What the steps of the machine find that lead to a run which was not taken back.
UNDOING_BUGS = {
    "a step goes on with a run that was not taken back": (
        "_qwf.resume_child",
        "perform _qwf.refuse_compensation(p_run, v_asked ->> 'from_node',\n      "
        "p_completed => v_asked ->> 'completed');",
        "",
    ),
    "a step that is named does not go on below": (
        "_qwf.forget_compensations",
        "if v_failed = '{}' then",
        "if true then",
    ),
}


# What check_invariants() finds about turns.
TURN_BUGS = {
    "later turns stay when one is named": (
        "_qwf.resume_maps",
        "if v_map.repeats and",
        "if false and",
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
        "where w.over is not null",
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


# What the tests of races find about runs of steps, the name of the test beside each.
CHILD_BUGS = {
    "test_two_runs_of_a_map_end_at_once": (
        "_qwf.after_ends",
        "p_done.pending := case when v_waits then v_locked end;",
        "p_done.pending := null;",
    ),
    "test_the_run_above_is_locked_while_a_run_ends": (
        "_qwf.report_runs",
        "if v_in_line is not true then\n    return v_done.pending is not null;",
        "if v_in_line is not true then\n    return false;",
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


# What the tests of runs that start together find, the name of the test beside each.
BATCH_BUGS = {
    "test_two_batches_at_once_share_the_places_of_a_limit": (
        "_qwf.serve_runs",
        "if v_pick.limited then perform _qwf.use_permits(v_pick, v_taken, v_now); end if;",
        "",
    ),
    "test_the_run_is_cancelled_while_its_runs_start_together 1": (
        "_qwf.stop_children",
        "and c.finished_at is null and c.ending is null",
        "and false",
    ),
}


# What the tests of races find about rates, the name of the test beside each.
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


# What the model of retries finds.
RETRY_BUGS = {
    "a changed value of the context is not looked for": (
        "_qwf.reasons_to_run",
        "p_context #> k.path is distinct from p_run.context #> k.path",
        "false",
    ),
    "inputs that changed are not looked for": (
        "_qwf.made_by",
        "p_node.inputs, ",
        "",
    ),
    "what follows a node that runs again is reused": (
        "_qwf.plan_retry",
        "where e.graph_id = p_graph and e.from_idx = a.idx\n        union all",
        "where false\n        union all",
    ),
    "a map that changed keeps its elements": (
        "_qwf.plan_retry",
        "and n.changed is null",
        "",
    ),
    "elements stay in the graph from which their map has moved": (
        "_qwf.move_run",
        "coalesce(j.parent_id, j.id) = m.id",
        "j.id = m.id",
    ),
    "a new node waits for nothing": (
        "_qwf.mend_run",
        "j.status = 'blocked' and j.elements is null",
        "j.id = any (v_again) and j.elements is null",
    ),
    "the run keeps its old context": (
        "_qwf.move_run",
        "context = p_context, ",
        "",
    ),
}


# What the tests of races find about checkpoints, the name of the test beside each.
CHECKPOINT_BUGS = {
    "test_a_box_that_comes_back_overwrites_nothing": (
        "_qwf.save_checkpoint",
        "j.id = p_job and j.token = p_token",
        "j.id = p_job",
    ),
    "test_a_save_waits_for_whoever_takes_the_job_away": (
        "_qwf.save_checkpoint",
        "for no key update;",
        ";",
    ),
    "test_a_job_that_leaves_no_row_leaves_no_checkpoint": (
        "_qwf.drop_completed",
        "where p.job_id = any (v_ended.ids)",
        "where false",
    ),
}


# What the tests of races find about bodies that run at most once, the name of the test beside each.
AT_MOST_ONCE_BUGS = {
    "test_a_body_does_not_begin_while_its_job_is_taken_away": (
        "qwf.progress",
        "j.token = progress.token for no key update;",
        "j.token = progress.token;",
    ),
    "test_a_stale_worker_begins_nothing": (
        "qwf.progress",
        "where j.id = progress.job_id and j.token = progress.token;",
        "where j.id = progress.job_id;",
    ),
    "test_a_body_that_should_stop_does_not_begin": (
        "qwf.progress",
        "elsif _qwf.should_stop",
        "elsif false and _qwf.should_stop",
    ),
    "test_what_has_begun_is_not_tried_again": (
        "_qwf.transition",
        "when 'lost' then true",
        "when 'lost' then false",
    ),
}


# What the tests of races find about numbers that bodies track, the name of the test beside each.
SERIES_BUGS = {
    "test_the_end_of_the_job_finds_the_first_report": (
        "_qwf.save_series",
        "where v_job.token = p_token",
        "where false",
    ),
    "test_the_report_of_the_end_waits_for_numbers_and_deletes_them": (
        "_qwf.delete_jobs",
        "delete from qwf.attempt_series s where s.job_id = any (p_jobs);",
        "",
    ),
}


# What the tests of races find about firings, the name of the test beside each.
FIRING_BUGS = {
    "test_a_person_and_a_backfill_do_not_work_on_one_night": (
        "_qwf.fire_due",
        "if not found and exists",
        "if false and exists",
    ),
    "test_two_backfills_begun_at_once_have_names_of_their_own": (
        "_qwf.firing_verdict",
        "if v_taken = 'open' or",
        "if",
    ),
    "test_a_run_that_ends_while_it_is_replaced_keeps_its_end": (
        "_qwf.firing_verdict",
        "case when _qwf.cancel_last(p_schedule) then 'fire' else 'wait' end",
        "case when _qwf.cancel_last(p_schedule) then 'fire' else 'fire' end",
    ),
    "test_a_retry_opens_the_firing_that_a_tick_is_closing": (
        "qwf.retry_job",
        "set result = null, ended_at = null, reopened = true",
        "set reopened = true",
    ),
    "test_a_backfill_that_is_dropped_while_it_fires_leaves_its_work": (
        "_qwf.close_firings",
        "from qwf.firings o where o.id = any (v_firings)",
        "from qwf.firings o join qwf.schedules s on s.name = o.schedule"
        " where o.id = any (v_firings)",
    ),
    "test_a_tick_does_not_wait_for_who_drops_or_pauses_a_backfill": (
        "qwf.enable_schedule",
        "coalesce(s.resume_at, ",
        "coalesce(",
    ),
}


# What the tests of races find about signals, the name of the test beside each.
SIGNAL_BUGS = {
    "test_a_step_and_a_signal_that_do_not_see_each_other": (
        "_qwf.match_signals",
        "when s.horizon <= v_xmin then null",
        "when true then null",
    ),
    "test_a_step_that_opens_with_an_older_snapshot_is_found": (
        "_qwf.take_kept_signal",
        "<> 'read committed' then -1 ||",
        "= 'never' then -1 ||",
    ),
    "test_a_signal_leaves_a_locked_run_to_the_tick commits": (
        "_qwf.serve_signal",
        "for no key update of r skip locked",
        "for no key update of r",
    ),
    "test_a_signal_while_the_run_is_cancelled commits": (
        "_qwf.cancel_obsolete",
        "delete from qwf.waits w where w.job_id = any (v_free);",
        "",
    ),
}


# What check_invariants() finds about alerts and late work, the invariant beside each.
ALERT_BUGS = {
    "an alert keeps times only until it opens": (
        "_qwf.apply_changes",
        "case when n.opens then '{}' else n.recent end,\n    case",
        "coalesce(n.recent, '{}'),\n    case",
    ),
    "an open alert has told somebody or will": (
        "_qwf.apply_changes",
        "case when n.opens then p_now + c.pause end",
        "null",
    ),
    "an open alert has counted an event": (
        "_qwf.apply_changes",
        "then greatest(c.bad, cardinality(n.recent)) else c.bad end,\n    c.first_bad",
        "then 0 end,\n    c.first_bad",
    ),
    "an alert counts events that have a number": (
        "_qwf.fold_events",
        "f.first_bad,\n    f.last_bad, h.run_id",
        "f.first_bad,\n    f.last_bad + 1000, h.run_id",
    ),
    "nothing is due of a closed alert": (
        "_qwf.close_due",
        "close_at = null, send_at = null,",
        "close_at = null,",
    ),
    "a rule sends at most 20 messages in an hour": (
        "_qwf.send_due",
        "where d.place <= d.room",
        "where true",
    ),
    "what waits to be told is open, and was not told": (
        "_qwf.send_due",
        "waits_since = null, send_at = case",
        "waits_since = p_now, send_at = case",
    ),
    "a run that is marked as late was told": (
        "_qwf.judge_runs",
        "v_late -> h.id::text from held h;",
        "v_late -> h.id::text from held h where false;",
    ),
    "a run that was told to be late is marked": (
        "_qwf.judge_runs",
        "set late_at = p_now",
        "set late_at = null",
    ),
    "a trouble that is open was told": (
        "_qwf.tell_states",
        "where p_begin is not null",
        "where false",
    ),
    "what is usual counts its times": (
        "_qwf.merge_usual",
        "coalesce(sum(c), 0)",
        "coalesce(sum(c), 0) + 1",
    ),
    "no more ends of runs are counted than there were": (
        "_qwf.learn_runs",
        "select e.workflow, e.status, count(*), sum(e.seconds),",
        "select e.workflow, e.status, 0, sum(e.seconds),",
    ),
    "no event is counted twice": (
        "_qwf.learn_runs",
        "e.seq > v_from and e.seq <=",
        "e.seq >= v_from - 1 and e.seq <=",
    ),
    "only events with a number are learned": (
        "_qwf.learn_runs",
        "set learned_seq = v_last;",
        "set learned_seq = v_last + 1000;",
    ),
}


# A test of test_compensations.py with its arguments, which finds the bug.
UNDO_BUGS = {
    ("test_a_charge_that_is_claimed_while_its_run_fails",): (
        "_qwf.wake_compensations",
        "d.finished_at is null or d.elements",
        "d.elements",
    ),
    ("test_a_refund_waits_for_all_that_follows_from_the_charge", "the other"): (
        "_qwf.wake_compensations",
        "or d.id = any (p_ended)",
        "",
    ),
    ("test_an_end_that_is_yet_to_be_applied_is_waited_for",): (
        "_qwf.wake_compensations",
        "o.run_id = p_run and o.job_id = d.id",
        "false",
    ),
    ("test_a_charge_that_ends_while_its_run_is_cancelled", True, "cancelled"): (
        "_qwf.open_guarded",
        "and not _qwf.has_completed(j.run_id, n.graph_id, n.compensates)",
        "and false",
    ),
    ("test_two_retries_at_once_charge_once",): (
        "_qwf.reasons_to_run",
        "when u.by is not null and d.done",
        "when false",
    ),
}


# tasks that are held back, because they kill their process
HOLD_BUGS = {
    "the workers do not know what is held": (
        "_qwf.spread_holds",
        "where h.until is not null group",
        "where false group",
    ),
    "the job that crashed stays first": (
        "_qwf.write_ends",
        "h.detail ->> 'reason' = 'crashed' and",
        "false and",
    ),
    "a hold does not end when its job has done well": (
        "_qwf.try_held_tasks",
        "or v_job.attempt >= v_task.trial_attempt)",
        "or false)",
    ),
    "all jobs go on when the time is over": (
        "_qwf.try_held_tasks",
        "elsif v_task.until is null",
        "elsif true",
    ),
}

# Bugs, and the options of the histories that find them.
CROSSING_BUGS = {
    "a job that has started supersedes itself": (
        [("_qwf.supersede", "where j.ctid = p.row and j.key_state <> 's'", "where j.ctid = p.row")],
        {"job.key": "'k'", "job.expires": "'10 min'"},
    ),
    "a run in line goes on while a body of its last try runs": (
        [
            ("_qwf.end_run", "or v_place = 'running')", ")"),
            ("_qwf.report_runs", "f.status = 'failed' and not f.stops", "f.status = 'failed'"),
            ("_qwf.advance_runs", "and c.closed > 0", ""),
        ],
        {"run.max_attempts": "3"},
    ),
    "a limit inside itself is not refused": (
        [("_qwf.limit_inside", "n.limit_by = any (p_limits)", "false")],
        {"run.limit_by": "'one'", "node.limit_by": "one"},
    ),
    "what was done is taken back outside the line": (
        [("_qwf.end_run", "coalesce(v_place in ('queued', 'scheduled'), false)", "false")],
        {"run.limit_by": "'one'", "people.retry": "then cancel"},
    ),
}


def put_in(dsn: str, function: str, text: str, bug: str) -> str:
    """Replace a function by one with the bug; returns its definition without it."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        ((source,),) = conn.execute(
            "select pg_get_functiondef(p.oid) from pg_proc p where p.oid = to_regproc(%s)",
            [function],
        ).fetchall()
        assert source.count(text) == 1, f"{function} has changed: plant the bug in its new text"
        conn.execute(source.replace(text, bug))
        return str(source)


@contextlib.contextmanager
def planted(dsn: str, function: str, text: str, bug: str) -> Iterator[None]:
    """The bug, as long as the context lasts."""
    source = put_in(dsn, function, text, bug)
    try:
        yield
    finally:
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute(source.encode())
