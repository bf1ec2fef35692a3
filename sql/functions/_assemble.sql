-- Deploy qwf:functions/_assemble
-- requires: functions/_reads
-- Purpose: Puts the compiled steps of a workflow together: positions, edges, what each node reads.
-- Guarantees: Steps come dependencies first and so do the nodes of each, so every edge points to a higher idx. Sources of a
--   pipeline wait for what their step waits for.
-- Called by: _compile.

begin;

create function qwf._assemble(p_parts jsonb[]) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  with part as materialized (
    select p.place, p.part from unnest(p_parts) with ordinality as p (part, place)
  ), node as materialized (
    select (row_number() over (order by p.place, n.place) - 1)::int as idx, p.place, n.node,
      n.node ->> 'node_id' as id, n.node ->> 'step_id' as step_id
    from part p
    cross join lateral jsonb_array_elements(p.part -> 'nodes') with ordinality as n (node, place)
  ), edge as materialized (
    select distinct f.idx as from_idx, t.idx as to_idx
    from node t
    cross join lateral jsonb_array_elements_text(t.node -> 'depends_on') d (id)
    join node f on f.id = t.step_id || '/' || d.id
    union all
    select f.idx, t.idx
    from part p
    cross join lateral jsonb_array_elements_text(p.part -> 'waits') w (id)
    join node f on f.id = w.id
    join node t on t.place = p.place and coalesce(t.node -> 'depends_on', '[]') = '[]'
  ), incoming as (
    select to_idx, count(*) as edges from edge group by to_idx
  ), reads as (
    select n.idx,
      coalesce(array_agg(source.idx order by source.idx) filter (where not r.is_files), '{}') as nodes,
      coalesce(array_agg(r.id order by r.id) filter (where r.is_files), '{}') as files
    from node n
    cross join lateral qwf._reads(
      jsonb_build_array(n.node -> 'inputs', n.node -> 'skip_if', n.node -> 'input_spec')) r
    left join node source on source.id = r.id and not r.is_files
    group by n.idx
  )
  select jsonb_build_object(
    'nodes', (
      select coalesce(jsonb_agg(n.node || jsonb_build_object('idx', n.idx, 'dep_count', coalesce(i.edges, 0),
        'ref_nodes', coalesce(to_jsonb(r.nodes), '[]'), 'ref_files', coalesce(to_jsonb(r.files), '[]')) order by n.idx), '[]')
      from node n
      left join incoming i on i.to_idx = n.idx
      left join reads r on r.idx = n.idx),
    'edges', (select coalesce(jsonb_agg(jsonb_build_array(e.from_idx, e.to_idx)), '[]') from edge e),
    'checks', (select coalesce(jsonb_agg(c), '[]') from part p cross join lateral jsonb_array_elements(p.part -> 'checks') c),
    'problems', (
      select coalesce(jsonb_agg(x), '[]') from part p cross join lateral jsonb_array_elements(p.part -> 'problems') x))
$$;

comment on function qwf._assemble(jsonb[]) is
  'Returns one graph from the compiled steps of a workflow: nodes with their positions, edges, checks, problems.';
revoke all on function qwf._assemble(jsonb[]) from public;

commit;
