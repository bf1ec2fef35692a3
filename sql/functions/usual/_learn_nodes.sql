-- Deploy qwf:functions/usual/_learn_nodes
-- Purpose: Adds the nodes of runs that ended to what is usual for them.
-- Guarantees: Of the newest 100 runs the first 200 nodes each, 3,000 in all: of more runs it is a
--   sample. The time of a node is that of its last attempt, by the body if the worker has reported
--   it; of a map from its first element to its end. A node that was skipped counts for nothing.
-- Locks: as _merge_usual.
-- Called by: _learn_runs.

begin;

create function _qwf.learn_nodes(p_ended _qwf.past_run[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
begin
  perform _qwf.merge_usual(array_agg(w.row), 30)
  from (
    select ('node', n.workflow, n.node_id,
      _qwf.histogram(array_agg(n.seconds)
        filter (where n.status = 'completed' and n.seconds is not null)),
      max(n.seconds) filter (where n.status = 'completed'),
      max(n.finished_at) filter (where n.status = 'completed'),
      max(n.finished_at), (array_agg(n.status order by n.place desc))[1],
      (array_agg(n.seconds order by n.place desc))[1],
      jsonb_agg(jsonb_build_object('run', n.run_id, 'status', n.status, 'seconds', n.seconds,
        'at', n.finished_at) order by n.place desc))::_qwf.usual_new as row
    from (
      select e.workflow, e.run_id, e.place, j.node_id, j.status::text as status, j.finished_at,
        greatest(coalesce(
          _qwf.as_number(a.detail -> 'body_s'), date_part('epoch', a.finished_at - a.started_at),
          date_part('epoch', j.finished_at - m.began)), 0)::real as seconds
      from (
        select x.* from unnest(p_ended)
          with ordinality x (workflow, run_id, at, status, seconds, place)
        order by x.place desc limit 100) e
      cross join lateral (
        select k.id, k.node_id, k.status, k.finished_at, k.elements
        from qwf.jobs k where k.run_id = e.run_id and k.node_idx < 200
        order by k.node_idx offset 0) j
      left join lateral (
        select t.started_at, t.finished_at, t.detail from qwf.job_attempts t
        where t.job_id = j.id order by t.attempt desc limit 1) a on true
      left join lateral (
        select min(k.started_at) as began from qwf.jobs k
        where k.parent_id = j.id and k.element < 20 and j.elements is not null) m on true
      where j.finished_at is not null and j.status in ('completed', 'failed', 'cancelled')
      limit 3000) n
    group by n.workflow, n.node_id) w;
end $$;

commit;
