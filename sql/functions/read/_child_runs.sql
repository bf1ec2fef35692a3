-- Deploy qwf:functions/read/_child_runs
-- Purpose: Returns the runs of a step, or of the elements of its map, for people: those that are
--   live first, then those that did not complete.
-- Guarantees: At most 20 of them, and of each job the last one. Null for a step that runs none.
-- Called by: run_status.

begin;

create function _qwf.child_runs(p_job qwf.jobs) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_agg(jsonb_build_object('id', c.id, 'node_id', c.node_id, 'workflow', c.workflow,
    'status', c.status, 'done', c.done, 'total', c.node_count) order by c.place)
  from (
    select r.id, j.node_id, r.workflow, r.status, r.node_count, d.done,
      row_number() over (order by r.finished_at is not null, r.status = 'completed', r.id) as place
    from qwf.jobs j
    cross join lateral (
      select b.* from qwf.runs b where b.parent_id = j.id order by b.id desc limit 1) r
    cross join lateral (
      select count(*)::int as done from qwf.jobs n
      where n.run_id = r.id and n.node_idx is not null
        and n.status in ('completed', 'skipped')) d
    where j.id = p_job.id or j.parent_id = p_job.id
    order by place
    limit 20
  ) c
  where starts_with(p_job.queue, 'qwf.')
$$;

commit;
