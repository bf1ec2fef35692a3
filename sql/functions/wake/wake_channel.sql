-- Deploy qwf:functions/wake/wake_channel
-- Purpose: The NOTIFY channel of a worker.
-- Guarantees: One channel per worker; a valid identifier whatever the worker is called.
-- Called by: whatever sends a worker a notification, and agents.

begin;

create function qwf.wake_channel(worker text) returns text
language sql immutable strict
as $$
  select 'qwf_' || md5(wake_channel.worker)
$$;
comment on function qwf.wake_channel is
  'Channel a worker LISTENs on. Payload: the queue that has work, cancel when it should send a '
  'heartbeat now, log when somebody follows one of its logs, or the echo it asked for.';
call _qwf.allow('qwf.wake_channel', 'qwf_worker');

commit;
