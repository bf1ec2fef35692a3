-- Deploy qwf:functions/erase/_check_ended
-- Purpose: Refuses to erase jobs, or nodes of runs, that have not ended.
-- Guarantees: Takes no lock, so that it never waits for a worker that reports.
-- Raises: QW002.
-- Called by: erase.

begin;

create function _qwf.check_ended(p_jobs bigint[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_jobs bigint[];
  v_runs bigint[];
begin
  v_jobs := array(
    select j.id from qwf.jobs j
    where j.id = any (p_jobs) and j.finished_at is null
    order by j.id);
  v_runs := array(
    select r.id from qwf.runs r
    where r.id = any (_qwf.runs_of_jobs(p_jobs)) and r.finished_at is null
    order by r.id);
  if cardinality(v_jobs) > 0 then
    raise exception using errcode = 'QW002',
      message = case cardinality(v_jobs) when 1 then '1 job has not ended'
        else cardinality(v_jobs) || ' jobs have not ended' end,
      detail = 'jobs ' || array_to_string(v_jobs[:20], ', ')
        || case when cardinality(v_jobs) > 20 then ' and others' else '' end,
      hint = 'cancel them first';
  elsif cardinality(v_runs) > 0 then
    raise exception using errcode = 'QW002',
      message = case cardinality(v_runs) when 1 then '1 run has not ended'
        else cardinality(v_runs) || ' runs have not ended' end,
      detail = 'runs ' || array_to_string(v_runs[:20], ', '),
      hint = 'cancel them first, or wait for their end';
  end if;
end $$;

commit;
