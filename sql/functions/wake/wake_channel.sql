-- Deploy qwf:functions/wake/wake_channel
-- Purpose: Returns the NOTIFY channel of a worker.
-- Guarantees: One channel per worker, and a valid identifier for any name.
-- Called by: every function that notifies a worker, and agents.

begin;

create function qwf.wake_channel(worker text) returns text
language sql immutable strict
as $$
  select 'qwf_' || md5(wake_channel.worker)
$$;
comment on function qwf.wake_channel is
  'Channel a worker LISTENs on. Payload: the queue that has work, cancel (send a heartbeat now), '
  'log (somebody follows one of its logs), or echo (it asked for it).';
call _qwf.allow('qwf.wake_channel', 'qwf_worker');

commit;
