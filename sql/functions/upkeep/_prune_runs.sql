-- Deploy qwf:functions/upkeep/_prune_runs
-- Purpose: Deletes runs that ended longer ago than the retention, with all their nodes
--   and the runs of their steps.
-- Guarantees: Leaves a run with a running body or with events to apply for later, and a run of a
--   step while the run above is not over. Deletes the oldest first, until they have p_max nodes in
--   all, and at least one run.
-- Locks: terminal runs that nobody else has locked.
-- Called by: prune.

begin;

create function _qwf.prune_runs(p_max int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set jit = off
as $$
declare
  v_old timestamptz := qwf.now() - (select s.retention from qwf.settings s);
  v_runs bigint[];
  v_jobs bigint[];
begin
  with old as materialized (
    select r.id, r.finished_at
    from qwf.runs r
    where r.finished_at < v_old
      and not exists (select from qwf.jobs j where j.run_id = r.id and j.finished_at is null)
      and not exists (
        select from qwf.outbox o where o.run_id = r.id and o.poisoned_at is null)
      and not exists (  -- another try of its step goes on with it
        select from qwf.jobs s join qwf.runs a on a.id = s.run_id
        where s.id = r.parent_id and a.finished_at is null)
    order by r.finished_at
    limit p_max
    for update of r skip locked
  ), counted as (
    select o.id, n.jobs, sum(n.jobs) over (order by o.finished_at, o.id) as total
    from old o
    cross join lateral (select count(*) as jobs from qwf.jobs j where j.run_id = o.id) n
  )
  select coalesce(array_agg(c.id), '{}') into v_runs
  from counted c
  where c.total - c.jobs < p_max;
  if v_runs = '{}' then
    return 0;
  end if;
  v_jobs := array(select j.id from qwf.jobs j where j.run_id = any (v_runs));
  perform _qwf.delete_runs_below(v_jobs), _qwf.delete_jobs(v_jobs);
  delete from qwf.outbox o where o.run_id = any (v_runs);
  delete from qwf.runs r where r.id = any (v_runs);
  return cardinality(v_runs);
end $$;

commit;
