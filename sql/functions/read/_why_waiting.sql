-- Deploy qwf:functions/read/_why_waiting
-- Purpose: Returns why a job that some worker could take has not been taken yet.
-- Guarantees: Counts at most 1000 jobs ahead of it, and reads no more of the queue. Jobs whose
--   limit is gone are not ahead: nobody can claim them.
-- Called by: _why_unclaimed.

begin;

create function _qwf.why_waiting(p_job qwf.jobs, p_able text[], p_now timestamptz)
returns setof text
language sql stable
as $$
  select format('%s ahead of it in queue %s', case a.ahead
    when 0 then 'no job is' when 1 then '1 job is' when 1000 then '1000 or more jobs are'
    else format('%s jobs are', a.ahead) end, p_job.queue)
  from (
    select count(*) as ahead
    from (  -- each branch is a range of one index
      select from qwf.jobs j
      where j.queue = p_job.queue and j.status = 'queued' and j.limit_by is null
        and j.run_next and not p_job.run_next
      union all
      select from qwf.jobs j
      where j.queue = p_job.queue and j.status = 'queued' and j.limit_by is null
        and j.run_next = p_job.run_next and j.priority < p_job.priority
      union all
      select from qwf.jobs j
      where j.queue = p_job.queue and j.status = 'queued' and j.limit_by is null
        and j.run_next = p_job.run_next and j.priority = p_job.priority
        and j.position < p_job.position
      union all
      select from qwf.limits l join qwf.jobs j on j.limit_by = l.name
      where j.queue = p_job.queue and j.status = 'queued' and j.limit_place is null
        and j.run_next and not p_job.run_next
      union all
      select from qwf.limits l join qwf.jobs j on j.limit_by = l.name
      where j.queue = p_job.queue and j.status = 'queued' and j.limit_place is null
        and j.run_next = p_job.run_next and j.priority < p_job.priority
      union all
      select from qwf.limits l join qwf.jobs j on j.limit_by = l.name
      where j.queue = p_job.queue and j.status = 'queued' and j.limit_place is null
        and j.run_next = p_job.run_next and j.priority = p_job.priority
        and j.position < p_job.position
      limit 1000
    ) j
  ) a
  where p_job.limit_place is null
  union all
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
  union all
  select format('worker %s holds %s and runs at most %s at once', w.id,
    case r.held when 1 then '1 job' else format('%s jobs', r.held) end, w.slots)
  from qwf.workers w
  cross join lateral (
    select count(*) as held from qwf.jobs j where j.claimed_by = w.id and j.status = 'running'
  ) r
  where w.id = any (p_able) and r.held >= w.slots
  union all
  select format('worker %s has model %s loaded and takes its jobs first, until the head of the '
    'queue has waited %s', w.id, w.current_model, s.affinity_max_wait)
  from qwf.workers w cross join qwf.settings s
  where w.id = any (p_able) and not p_job.run_next
    and w.current_model is distinct from p_job.required_model
    and p_job.queued_at > p_now - s.affinity_max_wait
    and exists (
      select from qwf.jobs j
      where j.queue = p_job.queue and j.status = 'queued' and j.limit_by is null
        and j.required_model = w.current_model
        and coalesce(j.limit_by, j.required_model) = w.current_model)
$$;

commit;
