-- Deploy qwf:functions/search/_show_runs
-- Purpose: Returns the runs that were found as lists show them, in the order they were found.
-- Guarantees: Reads the nodes of these runs, not the elements of their maps, and the running jobs.
--   With the settings of find_runs.
-- Called by: find_runs.

begin;

create function _qwf.show_runs(p_found _qwf.found, p_now timestamptz) returns setof qwf.found_run
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with running (run_id, bodies) as materialized (
    select j.run_id, count(*) from qwf.jobs j where j.status = 'running' group by j.run_id
  )
  select
    r.id, r.workflow, r.workflow_version, r.status, r.project, n.done, r.node_count, n.failed,
    case when r.id is not null then coalesce(b.bodies, 0)::int end, r.waiting_nodes,
    round(extract(epoch from coalesce(r.finished_at, p_now) - r.started_at), 3)::double precision,
    r.key, r.created_at, r.started_at, r.finished_at,
    case when r.finished_at is null and isfinite(r.deadline_at)
      then date_trunc('second', r.deadline_at - p_now) end,
    left(case when r.finished_at is null then 'ends ' || r.ending || ': ' else '' end
      || split_part(left(r.error, 1000), E'\n', 1), 200), p_found.searched_to
  from unnest(coalesce(nullif(p_found.ids, '{}'), array[null::bigint]))
    with ordinality f (id, place)
  left join qwf.runs r on r.id = f.id
  left join running b on b.run_id = r.id
  left join lateral (
    select count(*) filter (where j.status in ('completed', 'skipped'))::int as done,
      count(*) filter (where j.status = 'failed')::int as failed
    from qwf.jobs j where j.run_id = r.id and j.node_idx is not null
  ) n on r.id is not null
  where f.id is not null or p_found.searched_to is not null
  order by f.place
$$;

commit;
