-- Deploy qwf:functions/read/_why_key_waits
-- Purpose: Returns how many jobs of its key are ahead of a job in the line of its queue.
-- Called by: _why_waiting.

begin;

create function _qwf.why_key_waits(p_job qwf.jobs) returns setof text
language sql stable
as $$
  select format('%s of %s %s ahead of it, and the keys of queue %s take turns', case k.ahead
    when 0 then 'no job' when 1 then '1 job' when 1000 then '1000 or more jobs'
    else format('%s jobs', k.ahead) end, p_job.limit_by,
    case when k.ahead < 2 then 'is' else 'are' end, p_job.queue)
  from (
    select count(*) as ahead from (
      select from qwf.jobs j
      where _qwf.line_of(j) = p_job.queue and _qwf.band_of(j) = _qwf.band_of(p_job)
        and j.limit_place = p_job.limit_place and j.position < p_job.position
        and j.status in ('queued', 'running')
      limit 1000) j
  ) k
  where p_job.limit_place is not null
$$;

commit;
