-- Deploy qwf:functions/claim/_supersede
-- Purpose: Ends the older jobs of the keys of picked jobs, which only wait for their next try, and
--   returns the picked jobs that may start.
-- Guarantees: Of the jobs that run at most once it keeps as many as the worker could begin now
--   (p_startable), less those of limits with a rate: none is claimed ahead. This is the only place
--   where a newer job supersedes an older one. A producer and a finish with open transactions
--   cannot see each other, so neither of them could. A picked job whose older one has been queued
--   meanwhile is left; if somebody has locked the older one, it waits a second, so that no claim
--   picks it again and again in vain. A job that has started is the older one itself: it passes.
-- Locks: the older jobs; skips those that somebody else has locked.
-- Called by: claim.

begin;

create function _qwf.supersede(
  p_picked _qwf.picked[], p_now timestamptz, p_startable int, p_rated bigint[])
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_jobs _qwf.picked[];
  v_ahead bigint[] := (array(
    select p.id from unnest(p_picked) p
    where p.rare and p.id <> all (coalesce(p_rated, '{}'))
      and (select j.begun from qwf.jobs j where j.ctid = p.row) is not null)
    )[1 + greatest(coalesce(p_startable, 1) - coalesce(cardinality(p_rated), 0), 0) :];
begin
  with newer as materialized (
    select j.id, j.project, j.task, j.key
    from unnest(p_picked) p join qwf.jobs j on j.ctid = p.row
    where p.rare and j.key_state <> 's'
  ), older as materialized (
    select o.id, n.id as newer
    from newer n cross join lateral (  -- from the index jobs_key
      select o.id from qwf.jobs o
      where o.project = n.project and o.task = n.task and o.key = n.key and o.key is not null
        and (o.key_state = 's') and o.status = 'scheduled'
      for no key update skip locked
    ) o
  ), ended as (
    update qwf.jobs j set
      status = 'cancelled', finished_at = p_now, run_at = null,
      last_error = format('superseded by job %s', o.newer) || coalesce(': ' || j.last_error, '')
    from older o where j.id = o.id
    returning j.id, o.newer
  )
  insert into _qwf.event_log (at, job_id, kind, detail)
  select p_now, e.id, 'cancelled',
    jsonb_build_object('reason', 'superseded', 'by_job', e.newer)
  from ended e;
  v_jobs := array(
    select p from unnest(p_picked) p
    where not p.rare or p.id <> all (v_ahead) and not exists (
      select from qwf.jobs j
      where j.ctid = p.row and j.key_state <> 's'
        and _qwf.started_with_key(j.project, j.task, j.key, true) is not null));
  if cardinality(v_jobs) < cardinality(p_picked) then
    update qwf.jobs j set
      status = 'scheduled', run_at = p_now + interval '1 s', position = null, queued_at = null
    from unnest(p_picked) p
    where j.ctid = p.row and not exists (select from unnest(v_jobs) k where k.id = p.id)
      and exists (
        select from qwf.jobs o
        where o.project = j.project and o.task = j.task and o.key = j.key and o.key is not null
          and (o.key_state = 's') and o.status = 'scheduled');
  end if;
  return v_jobs;
end $$;

commit;
