-- Deploy qwf:functions/alerts/_alert_job
-- Purpose: Returns the job that delivers a message, as enqueue_many takes it: qwf.send for a
--   receiver, else the task of the rule.
-- Called by: _send_messages.

begin;

create function _qwf.alert_job(p_rule text, p_do jsonb, p_said jsonb) returns jsonb
language sql immutable
as $$
  select case when p_do ? 'receiver' then _qwf.send_job(
    p_do ->> 'receiver', p_said, jsonb_build_object('qwf.alert', p_rule))
  else jsonb_build_object(
    'task', p_do -> 'task', 'queue', coalesce(p_do -> 'queue', '"default"'),
    'args', coalesce(p_do -> 'args', '{}') || jsonb_build_object('alert', p_said),
    'labels', jsonb_build_object('qwf.alert', p_rule)) end
$$;

commit;
