-- Deploy qwf:functions/alerts/_alert_kinds
-- Purpose: Lists the kinds of events that open an alert, and those that end it.
-- Guarantees: A kind without ends is over when nothing more happens for the time `within`.
--   run_ended opens with the status that the rule names; a run that completed ends one that failed.
-- Called by: _alert_problems, _alert_terms, _fold_events, _send_due.

begin;

create function _qwf.alert_kinds() returns table (kind text, ends text[])
language sql immutable
as $$
  values
    ('run_ended', '{run_ended}'::text[]), ('job_failed', '{}'),
    ('question_asked', '{question_answered,expired,cancelled}'),
    ('alert_failed', '{}'), ('lost', '{}'), ('tripped', '{}'), ('reclaimed', '{}'),
    ('poisoned', '{}'), ('expired', '{}'), ('deadline', '{}'), ('stall_suspected', '{}'),
    ('older_code', '{}'), ('folder_moved', '{}'), ('server_broken', '{server_back}'),
    ('worker_dead', '{worker_back}'), ('task_held', '{task_back}'),
    ('queue_waits', '{queue_moves}'),
    ('schedule_failed', '{schedule_ok}'), ('schedule_skipped', '{schedule_ok}'),
    ('schedule_late', '{schedule_ok}'), ('run_late', '{}'), ('job_late', '{}'), ('overdue', '{}'),
    ('ticks_missed', '{}'), ('cannot_run_anywhere', '{}'),
    ('worker_off', '{worker_on}'), ('worker_stopped', '{}'), ('host_forgotten', '{}'),
    ('cancelled', '{}'), ('retried', '{}'), ('erased', '{}'), ('events_restarted', '{}'),
    ('settings_changed', '{}'), ('queue_changed', '{}'), ('limit_changed', '{}'),
    ('schedule_changed', '{}'), ('definition_changed', '{}'), ('alert_changed', '{}'),
    ('schema_changed', '{}')
$$;

commit;
