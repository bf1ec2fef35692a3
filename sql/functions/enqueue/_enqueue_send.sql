-- Deploy qwf:functions/enqueue/_enqueue_send
-- Purpose: Enqueues the job that delivers a message to a receiver, or pings it.
-- Guarantees: Only an agent that has the receiver takes it. A message is tried 8 times within a day;
--   a ping, which has no message, 3 times within minutes, because the next one follows.
-- Notifies: sleepers of the queue.
-- Called by: _send_message, _start_scheduled.

begin;

create function _qwf.enqueue_send(p_receiver text, p_message jsonb, p_labels jsonb) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return (_qwf.insert_keyless(_qwf.read_jobs(jsonb_build_array(jsonb_build_object(
    'task', 'qwf.send', 'queue', 'qwf.alerts', 'labels', p_labels,
    'args', jsonb_strip_nulls(jsonb_build_object('receiver', p_receiver, 'message', p_message)),
    'requires', jsonb_build_object('receiver.' || p_receiver, 'true'),
    'max_attempts', case when p_message is null then 3 else 8 end,
    'backoff', case when p_message is null then '[10, 60]'
      else '[10, 60, 300, 1800, 7200, 21600, 43200]' end::jsonb)))))[1];
end $$;

commit;
