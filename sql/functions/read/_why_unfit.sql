-- Deploy qwf:functions/read/_why_unfit
-- Purpose: Returns what keeps each live worker of a queue from taking a job, the nearest miss
--   first.
-- Called by: _why_unclaimed.

begin;

create function _qwf.why_unfit(p_job qwf.jobs, p_now timestamptz)
returns table (worker text, reasons text[])
language sql stable
as $$
  select w.id, m.reasons
  from qwf.workers w
  cross join qwf.settings s
  cross join lateral (
    select _qwf.why_unfit_for(p_job, w, p_now) || array(
      select format('%s is switched off (%s) by %s%s%s', w.host, o.stop_policy, o.requested_by,
        coalesce(' until ' || o.until, ''), coalesce(', because: ' || o.reason, ''))
      from qwf.switched_off o
      where o.host = w.host and o.queue = w.queue) as reasons
  ) m
  where w.queue = p_job.queue and w.stopped_at is null and w.last_seen > p_now - s.worker_stale
  order by cardinality(m.reasons), w.host, w.id
$$;

commit;
