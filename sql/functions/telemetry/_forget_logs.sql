-- Deploy qwf:functions/telemetry/_forget_logs
-- Purpose: Deletes the live logs that nobody has followed for a minute.
-- Guarantees: Waits for nobody.
-- Locks: the rows of live_logs that nobody else has locked.
-- Called by: follow_log, prune.

begin;

create function _qwf.forget_logs(p_now timestamptz) returns void
language sql
as $$
  delete from qwf.live_logs l
  using (
    select f.job_id from qwf.live_logs f
    where f.followed_until < p_now - interval '1 min'
    for update skip locked
  ) expired
  where l.job_id = expired.job_id
$$;

commit;
