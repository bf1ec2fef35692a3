-- Deploy qwf:functions/claim/_supersede
-- Purpose: Ends the older jobs of the keys of picked jobs, which only wait for their next try, and
--   returns the picked jobs that may start.
-- Guarantees: This is the only place where a newer job supersedes an older one. A producer and a
--   finish with open transactions cannot see each other, so neither of them could. A picked job
--   whose older one somebody has locked is left for the next claim; a statement of its own looks,
--   because the older one may have been queued meanwhile.
-- Locks: the older jobs; skips those that somebody else has locked.
-- Called by: claim.

begin;

create function _qwf.supersede(p_picked _qwf.picked[], p_now timestamptz) returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with newer as materialized (
    select j.id, j.project, j.task, j.key
    from unnest(p_picked) p join qwf.jobs j on j.ctid = p.row
    where p.rare
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
  return array(
    select p from unnest(p_picked) p
    where not p.rare or not exists (
      select from qwf.jobs j
      where j.ctid = p.row
        and _qwf.started_with_key(j.project, j.task, j.key, true) is not null));
end $$;

commit;
