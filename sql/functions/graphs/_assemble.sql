-- Deploy qwf:functions/graphs/_assemble
-- Purpose: Joins the compiled steps of a workflow into one graph: positions, edges, and what each
--   node reads.
-- Guarantees: Steps come dependencies first, and so do the nodes of each step, so every edge points
--   to a higher idx. The source nodes of a pipeline wait for what their step waits for. If that
--   makes more than 200000 edges, the result has a problem instead of those edges.
-- Called by: _compile.

begin;

create function _qwf.assemble(p_parts jsonb[]) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
as $$
declare
  v_graph jsonb;
begin
  with part as materialized (
    select p.place, p.part from unnest(p_parts) with ordinality as p (part, place)
  ), node as materialized (
    select (row_number() over (order by p.place, n.place) - 1)::int as idx, p.place, n.node,
      n.node ->> 'node_id' as id, coalesce(n.node -> 'depends_on', '[]') = '[]' as is_source
    from part p
    cross join lateral jsonb_array_elements(p.part -> 'nodes') with ordinality as n (node, place)
  ), crossing as materialized (
    select coalesce(sum(jsonb_array_length(p.part -> 'waits')), 0) as edges
    from part p
    join node n on n.place = p.place and n.is_source
  ), edge as materialized (
    select distinct f.idx as from_idx, t.idx as to_idx
    from node t cross join lateral jsonb_array_elements_text(t.node -> 'depends_on') d (id)
    join node f on f.id = (t.node ->> 'step_id') || '/' || d.id
    union all
    select f.idx, t.idx
    from part p
    cross join lateral jsonb_array_elements_text(p.part -> 'waits') w (id)
    join node f on f.id = w.id
    join node t on t.place = p.place and t.is_source
    where (select c.edges from crossing c) <= 200000
  ), incoming as (
    select e.to_idx, count(*) as edges from edge e group by e.to_idx
  ), reading as (
    select n.idx, coalesce(jsonb_agg(s.idx) filter (where s.idx is not null), '[]') as nodes,
      coalesce(jsonb_agg(r.id) filter (where r.is_files), '[]') as files,
      bool_or(r.id = '$run') as run
    from node n
    cross join lateral _qwf.nodes_read(jsonb_build_array(n.node -> 'map', n.node -> 'inputs',
        n.node -> 'skip_if', n.node -> 'input_spec', n.node -> 'repeat', n.node -> 'delay')) r
    left join node s on s.id = r.id and not r.is_files
    group by n.idx
  )
  select jsonb_build_object(
    'nodes', (
      select coalesce(jsonb_agg(n.node || jsonb_build_object(
        'idx', n.idx, 'dep_count', coalesce(i.edges, 0),
        'ref_nodes', coalesce(r.nodes, '[]'), 'ref_files', coalesce(r.files, '[]'),
        'reads_run', coalesce(r.run, false))), '[]')
      from node n
      left join incoming i on i.to_idx = n.idx
      left join reading r on r.idx = n.idx),
    'edges', (
      select coalesce(jsonb_agg(jsonb_build_array(e.from_idx, e.to_idx)), '[]') from edge e),
    'checks', jsonb_path_query_array(to_jsonb(p_parts), '$[*].checks[*]'),
    'problems', jsonb_path_query_array(to_jsonb(p_parts), '$[*].problems[*]') || (
      select coalesce(jsonb_agg(jsonb_build_object(
        'path', 'steps', 'problem', format('%s dependencies between nodes of steps', c.edges),
        'hint', 'put a pipeline of one node between two wide steps; the limit is 200000')), '[]')
      from crossing c
      where c.edges > 200000))
  into v_graph;
  return v_graph;
end $$;

commit;
