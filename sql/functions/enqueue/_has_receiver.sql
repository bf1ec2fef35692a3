-- Deploy qwf:functions/enqueue/_has_receiver
-- Purpose: True if a live agent that serves qwf.alerts has the receiver.
-- Called by: _notice_no_receiver.

begin;

create function _qwf.has_receiver(p_receiver text) returns boolean
language sql stable
as $$
  select exists (
    select from qwf.workers w cross join qwf.settings s
    where w.queue = 'qwf.alerts' and w.stopped_at is null
      and w.last_seen > qwf.now() - s.worker_stale
      and w.labels ->> ('receiver.' || p_receiver) = 'true')
$$;

commit;
