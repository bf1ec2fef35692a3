-- Deploy qwf:functions/claim/_fill_slots
-- Purpose: Writes the jobs that a claim has made running into the slots it locked for them.
-- Guarantees: A job that was not made running, because a reference cannot be resolved, takes no
--   slot.
-- Locks: expects the slots locked by the caller.
-- Called by: claim.

begin;

create function _qwf.fill_slots(p_slots qwf.limit_slots[], p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with running as materialized (  -- only a running job has a token
    select j.id, j.limit_by, 'queue:' || j.queue as queue_limit
    from unnest(p_jobs) p (id)
    cross join lateral (
      select j.id, j.limit_by, j.queue, j.token from qwf.jobs j where j.id = p.id offset 0) j
    where j.token is not null
  ), locked as (
    select s.limit_name as name, array_agg(s.slot order by s.slot) as slots
    from unnest(p_slots) s
    group by s.limit_name
  ), filled as materialized (  -- in pairs: a join would compare each slot with each job
    select l.name, f.slot, f.job_id
    from locked l
    cross join lateral unnest(l.slots, array(
      select r.id from running r where l.name in (r.limit_by, r.queue_limit))) f (slot, job_id)
    where f.job_id is not null
  )
  update qwf.limit_slots s set job_id = f.job_id
  from filled f
  where s.limit_name = f.name and s.slot = f.slot;
end $$;

commit;
