-- Deploy qwf:functions/mending/_kept_below
-- Purpose: Says what a retry keeps of a map that resumes, and of the runs of a step that runs a
--   workflow: how many are reused, go on, or are new.
-- Guarantees: p_reused is null unless the map resumes. Null if nothing is kept. A run goes on if it
--   is the last one of its job and failed or was cancelled, as in _serve_run. Turns of a repeat
--   after one that is named are deleted, so they do not count.
-- Called by: _plan_retry.

begin;

create function _qwf.kept_below(p_job bigint, p_from_node text, p_reused bigint) returns text
language sql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
  select case
    when n.workflow is null then format('elements reused: %s of %s', p_reused, j.elements)
    when j.elements is null then (
      select format('run %s goes on', r.id)
      from (
        select r.id, r.status from qwf.runs r where r.parent_id = j.id
        order by r.id desc limit 1) r
      where r.status in ('failed', 'cancelled'))
    else (
      select concat_ws(', ',
        p_reused || case when p_reused = 1 then ' run reused' else ' runs reused' end,
        nullif(e.last, 0) || case when e.last = 1 then ' goes on' else ' go on' end,
        nullif(e.again - e.last, 0) || ' new')
      from (
        select count(*) as again,
          count(*) filter (where r.status in ('failed', 'cancelled')) as last
        from qwf.jobs e
        left join lateral (
          select r.status from qwf.runs r where r.parent_id = e.id order by r.id desc limit 1
        ) r on true
        where e.parent_id = j.id
          and (e.status in ('failed', 'cancelled') or e.node_id = p_from_node)
          and (n.repeat is null or not exists (
            select from qwf.jobs x
            where x.parent_id = j.id and x.node_id = p_from_node and x.element < e.element))) e)
  end
  from qwf.jobs j
  join qwf.graph_nodes n on n.graph_id = j.graph_id and n.idx = j.node_idx
  where j.id = p_job and (p_reused is not null or n.workflow is not null and j.elements is null)
$$;

commit;
