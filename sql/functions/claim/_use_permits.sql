-- Deploy qwf:functions/claim/_use_permits
-- Purpose: Writes the jobs that a claim has made running into the slots it locked for them, and
--   when they started into the starts.
-- Guarantees: A job that was not made running, because a reference cannot be resolved, takes no
--   slot and no start. A start that was used stays used, also if the job is released.
-- Locks: expects the slots and starts locked by the caller.
-- Called by: _serve_runs, claim.

begin;

create function _qwf.use_permits(
  p_pick _qwf.special_pick, p_jobs _qwf.picked[], p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform _qwf.use_key_starts(p_jobs, p_now)
  where p_pick.rated <> '{}';
  with running as materialized (  -- only a running job has a token
    select j.id, j.limit_by, 'queue:' || j.queue as queue_limit
    from unnest(p_jobs) p
    cross join lateral (
      select j.id, j.limit_by, j.queue, j.token from qwf.jobs j where j.id = p.id offset 0) j
    where j.token is not null
  ), locked as (
    select p.limit_name as name, array_agg(p order by p.slot, p.start) as permits
    from unnest(p_pick.permits) p
    group by p.limit_name
  ), used as materialized (  -- in pairs: a join would compare each permit with each job
    select u.limit_name, u.slot, u.start, u.job_id
    from locked l
    cross join lateral unnest(l.permits, array(
      select r.id from running r where l.name in (r.limit_by, r.queue_limit))
      ) u (limit_name, slot, start, job_id)
    where u.job_id is not null
  ), filled as (
    update qwf.limit_slots s set job_id = u.job_id
    from used u
    where s.limit_name = u.limit_name and s.slot = u.slot
  )
  update qwf.limit_starts t set used_at = p_now
  from used u
  where t.limit_name = u.limit_name and t.place = u.start;
end $$;

commit;
