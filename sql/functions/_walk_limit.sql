-- Deploy qwf:functions/_walk_limit
-- requires: schema/jobs
-- requires: schema/workers
-- requires: functions/_fits
-- Purpose: The next queued jobs of a limit that fit a worker, in claim order.
-- Guarantees: Looks, and locks nothing. Along jobs_claim_limited, or jobs_claim_limited_light past
--   no heavy job.
-- Called by: _wanted_places.

begin;

create function qwf._walk_limit(
  p_queue text, p_limit text, p_worker qwf.workers, p_now timestamptz, p_count int,
  p_light_only boolean)
returns setof qwf.jobs
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_light_only then
    return query
    select j.*
    from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by = p_limit and j.light
      and qwf._fits(j, p_worker, p_now)
    order by j.run_next desc, j.priority, j.position
    limit p_count;
  else
    return query
    select j.*
    from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by = p_limit
      and qwf._fits(j, p_worker, p_now)
    order by j.run_next desc, j.priority, j.position
    limit p_count;
  end if;
end $$;
comment on function qwf._walk_limit(text, text, qwf.workers, timestamptz, int, boolean) is
  'The first so many queued jobs of a limit that fit the worker; light ones only where asked.';
revoke all on function qwf._walk_limit(text, text, qwf.workers, timestamptz, int, boolean)
  from public;

commit;
