-- Deploy qwf:functions/waits/_add_waits
-- Purpose: Writes what some jobs wait for, when they have begun to ask or got a deadline.
-- Guarantees: Writes nothing for a job that only waits for a worker. A deadline that moves is the
--   same row: a tick that saw it before can still delete it.
-- Locks: expects the jobs, or their run, locked by the caller.
-- Called by: _change_merged, _expand_map, _fail_unresolved, _insert_elements, _insert_job,
--   _insert_keyless, _open_node, _end_attempts.

begin;

create function _qwf.add_waits(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  insert into qwf.waits (job_id, kind, since, at, project, name, refused)
  select w.*
  from unnest(p_jobs) p (id)
  join qwf.jobs j on j.id = p.id
  cross join lateral _qwf.waits_of(j) w
  on conflict (job_id, kind) do update set
    since = excluded.since, at = excluded.at, project = excluded.project, name = excluded.name,
    refused = null;
end $$;

commit;
