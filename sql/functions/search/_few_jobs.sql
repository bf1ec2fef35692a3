-- Deploy qwf:functions/search/_few_jobs
-- Purpose: Returns all jobs of the run or of the states that a filter names, if an index has them
--   and they are few; else null.
-- Guarantees: Reads at most p_look_back nodes of a run, or 5,000 jobs of the states, because to
--   read a job by its id costs five times as much as to read the next one. With the settings of
--   find_jobs.
-- Called by: find_jobs.

begin;

create function _qwf.few_jobs(p_filter _qwf.job_filter, p_look_back int) returns bigint[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_most int := least(p_look_back, case when p_filter.run_id is null then 5000 end);
  v_ids bigint[];
begin
  if p_filter.run_id is not null then
    v_ids := array(
      select j.id from qwf.jobs j where j.run_id = p_filter.run_id limit v_most + 1);
  elsif p_filter.statuses <@ '{scheduled,queued,running,awaiting_input,failed}' then
    v_ids := array(
      select few.id from (
        select j.id from qwf.jobs j
        where 'running' = any (p_filter.statuses) and j.status = 'running'
        union all
        select w.job_id from qwf.waits w
        where 'awaiting_input' = any (p_filter.statuses) and w.kind in ('question', 'signal')
        union all
        select j.id from qwf.jobs j
        where 'failed' = any (p_filter.statuses) and j.status = 'failed'
        union all
        select j.id from qwf.jobs j
        where 'scheduled' = any (p_filter.statuses) and j.status = 'scheduled'
        union all
        select j.id from qwf.jobs j
        where 'queued' = any (p_filter.statuses) and j.status = 'queued' and j.limit_by is null
        union all
        select j.id from qwf.jobs j
        where 'queued' = any (p_filter.statuses) and j.status = 'queued' and j.limit_by is not null
          and j.limit_place is null
        union all
        select j.id from qwf.jobs j
        where 'queued' = any (p_filter.statuses) and j.limit_place is not null
          and j.status in ('queued', 'running') and _qwf.line_of(j) is not null
      ) few
      limit v_most + 1);
  end if;
  return case when cardinality(v_ids) <= v_most then v_ids end;
end $$;

commit;
