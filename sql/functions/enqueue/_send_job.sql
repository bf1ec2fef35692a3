-- Deploy qwf:functions/enqueue/_send_job
-- Purpose: Returns the job that delivers a message to a receiver, or pings it, as enqueue_many takes
--   it.
-- Guarantees: Only an agent that has the receiver takes it. A message is tried 8 times within a day;
--   a ping, which has no message, 3 times within minutes, because the next one follows.
-- Called by: _alert_job, _start_scheduled.

begin;

create function _qwf.send_job(p_receiver text, p_message jsonb, p_labels jsonb) returns jsonb
language sql immutable
as $$
  select jsonb_build_object(
    'task', 'qwf.send', 'queue', 'qwf.alerts', 'labels', p_labels,
    'args', jsonb_build_object('receiver', p_receiver)
      || case when p_message is null then '{}' else jsonb_build_object('message', p_message) end,
    'requires', jsonb_build_object('receiver.' || p_receiver, 'true'),
    'max_attempts', case when p_message is null then 3 else 8 end,
    'backoff', case when p_message is null then '[10, 60]'
      else '[10, 60, 300, 1800, 7200, 21600, 43200]' end::jsonb)
$$;

commit;
