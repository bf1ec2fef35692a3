-- Deploy qwf:functions/read/_why_silent
-- Purpose: Says since when the worker of a running job is silent, and when the job is taken back.
-- Guarantees: Null while the worker is alive, or while the lease of one that never registered runs.
-- Called by: why_not.

begin;

create function _qwf.why_silent(p_job qwf.jobs, p_now timestamptz) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_seen timestamptz;
begin
  select w.last_seen into v_seen
  from qwf.workers w cross join qwf.settings s
  where w.id = p_job.claimed_by and w.last_seen <= p_now - s.worker_stale;
  if v_seen is null and p_job.lease_expires_at > p_now then
    return null;
  end if;
  return ', but ' || coalesce(
      'this worker is silent since ' || date_trunc('second', v_seen) || ' and ', '')
    || case when p_job.lease_expires_at > p_now
      then format('its lease ends at %s: then another worker gets the job',
        date_trunc('second', p_job.lease_expires_at))
      else format('its lease ended at %s: the next tick takes the job back',
        date_trunc('second', p_job.lease_expires_at)) end;
end $$;

commit;
