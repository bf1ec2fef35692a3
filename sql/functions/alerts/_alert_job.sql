-- Deploy qwf:functions/alerts/_alert_job
-- Purpose: Returns the job that delivers a message, as enqueue_many takes it: qwf.send for a
--   receiver, else the task of the rule.
-- Guarantees: A receiver is tried 8 times within a day, by an agent that has it.
-- Called by: _send_messages.

begin;

create function _qwf.alert_job(p_rule text, p_do jsonb, p_said jsonb) returns jsonb
language sql immutable
as $$
  select case when p_do ? 'receiver' then jsonb_build_object(
    'task', 'qwf.send', 'queue', 'qwf.alerts', 'max_attempts', 8, 'timeout', '5 min',
    'args', jsonb_build_object('receiver', p_do -> 'receiver', 'message', p_said),
    'requires', jsonb_build_object('receiver.' || (p_do ->> 'receiver'), 'true'),
    'backoff', '[10, 60, 300, 1800, 7200, 21600, 43200]'::jsonb,
    'labels', jsonb_build_object('qwf.alert', p_rule))
  else jsonb_build_object(
    'task', p_do -> 'task', 'queue', coalesce(p_do -> 'queue', '"default"'),
    'args', coalesce(p_do -> 'args', '{}') || jsonb_build_object('alert', p_said),
    'labels', jsonb_build_object('qwf.alert', p_rule)) end
$$;

commit;
