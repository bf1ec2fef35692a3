-- Deploy qwf:functions/mending/_delete_runs_below
-- Purpose: Deletes the runs that ran for jobs of a run, and the runs below those: the jobs are
--   about to be deleted, and nobody would find the runs any more.
-- Guarantees: Waits for nobody. A run of which a body still stops, or that somebody has locked,
--   stays until its retention has passed.
-- Locks: the caller has locked the run above; runs below it that are free, by id.
-- Called by: _move_run, _prune_runs, _reset_nodes, _resume_maps.

begin;

create function _qwf.delete_runs_below(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_runs bigint[];
begin
  v_runs := array(
    with recursive below (id) as (
      select r.id from qwf.runs r where r.parent_id = any (p_jobs) and r.depth > 0
      union
      select r.id
      from below b join qwf.jobs j on j.run_id = b.id join qwf.runs r on r.parent_id = j.id
    )
    select b.id from below b);
  if v_runs = '{}' then
    return;  -- the usual case
  end if;
  v_runs := array(
    select r.id from qwf.runs r
    where r.id = any (v_runs) and r.finished_at is not null
      and not exists (select from qwf.jobs j where j.run_id = r.id and j.finished_at is null)
    order by r.id
    for update skip locked);
  perform _qwf.delete_jobs(array(select j.id from qwf.jobs j where j.run_id = any (v_runs)));
  delete from qwf.outbox o where o.run_id = any (v_runs);
  delete from qwf.runs r where r.id = any (v_runs);
end $$;

commit;
