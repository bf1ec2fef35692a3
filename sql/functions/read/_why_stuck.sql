-- Deploy qwf:functions/read/_why_stuck
-- Purpose: Returns who holds a limit, or a key of one, if all of them wait for a place of it: runs
--   that cannot go on before another of them ends.
-- Guarantees: Null as soon as one holder is not a run, or none of its jobs waits for the limit.
-- Called by: _doctor_queues, _why_held.

begin;

create function _qwf.why_stuck(p_limit text) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive holder as (
    select j.id, j.queue
    from qwf.limit_slots s join qwf.jobs j on j.id = s.job_id
    where s.limit_name = p_limit
    union all
    select j.id, j.queue
    from qwf.jobs j
    where _qwf.line_of(j) is null and _qwf.band_of(j) is null
      and j.limit_place = _qwf.limit_place(p_limit) and j.limit_by = p_limit
      and j.status in ('queued', 'running')
  ), below (holder, run_id) as (
    select h.id, r.id
    from holder h join qwf.runs r on r.parent_id = h.id and r.finished_at is null
    where not exists (select from holder o where o.queue <> 'qwf.runs')
    union
    select b.holder, r.id
    from below b
    join qwf.jobs j on j.run_id = b.run_id and j.queue = 'qwf.runs' and j.status = 'running'
    join qwf.runs r on r.parent_id = j.id and r.finished_at is null
  ), waiting as (
    select b.holder, min(j.id) as job_id
    from below b join qwf.jobs j on j.run_id = b.run_id
    where j.limit_by = p_limit and j.status = 'queued'
    group by b.holder
  )
  select string_agg(format('job %s waits for its own job %s', w.holder, w.job_id), ', '
    order by w.holder) filter (where w.nth <= 3) || case when count(*) > 3 then ', ...' else '' end
  from (select w.*, row_number() over (order by w.holder) as nth from waiting w) w
  having count(*) = (select count(*) from holder) and count(*) >= (
    select l.max_running from qwf.limits l
    where l.name in (p_limit, split_part(p_limit, ':', 1)) order by l.name = p_limit desc limit 1)
$$;

commit;
