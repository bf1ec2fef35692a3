-- Deploy qwf:functions/erase/_personal_places
-- Purpose: Lists the places of personal data: each column that erase overwrites, and its part.
-- Guarantees: Every other column of text or JSON is one of a list with reasons in a test, which
--   fails if a new column is in neither list. Another test writes to each place, and erases it.
-- Called by: _read_parts.

begin;

create function _qwf.personal_places() returns table (place text, part text)
language sql immutable
as $$
  values
    ('qwf.jobs.inputs', 'args'),
    ('qwf.jobs.resolved_inputs', 'args'),
    ('qwf.jobs.output', 'output'),
    ('qwf.jobs.last_error', 'errors'),
    ('qwf.jobs.input_spec', 'questions'),
    ('qwf.jobs.labels', 'labels'),
    ('qwf.jobs.key', 'key'),
    ('qwf.jobs.limit_by', 'key'),
    ('qwf.jobs.acting_for', 'acting_for'),
    ('qwf.failure_marks.signature', 'errors'), ('qwf.failure_marks.note', 'errors'),
    ('qwf.runs.context', 'context'),
    ('qwf.runs.out_dir', 'output'),
    ('qwf.runs.error', 'errors'),
    ('qwf.runs.labels', 'labels'),
    ('qwf.runs.key', 'key'),
    ('qwf.runs.acting_for', 'acting_for'),
    ('qwf.job_attempts.error', 'errors'),
    ('qwf.job_attempts.detail', 'errors'),
    ('qwf.job_attempts.log_tail', 'logs'),
    ('qwf.job_progress.message', 'logs'),
    ('qwf.live_logs.tail', 'logs'), ('qwf.live_logs.stream', 'logs'),
    ('qwf.run_files.rel_path', 'output'),
    ('qwf.checkpoints.value', 'output'),
    ('qwf.attempt_series.series', 'output'),
    ('qwf.input_answers.value', 'answers'),
    ('qwf.input_answers.acting_for', 'acting_for'),
    ('qwf.signals.name', 'answers'),
    ('qwf.signals.payload', 'answers'),
    ('qwf.signals.acting_for', 'acting_for'),
    ('qwf.outbox.error', 'errors'),
    ('qwf.cancel_requests.reason', 'events'),
    ('qwf.cancel_requests.acting_for', 'acting_for'),
    ('qwf.limit_keys.name', 'key'),
    ('qwf.limit_holds.name', 'key'),
    ('qwf.open_alerts.subject', 'events'),
    ('qwf.open_alerts.key', 'events'),
    ('qwf.alert_messages.subject', 'events'),
    ('_qwf.event_log.detail', 'events'),
    ('_qwf.event_log.acting_for', 'acting_for')
$$;

commit;
