-- Deploy qwf:functions/graphs/_compile_node_parts
-- Purpose: Returns what the step of a pipeline decides about its nodes, by their ids: the problems
--   of their maps, and for those that run workflows columns, checks and problems (see
--   _compile_run).
-- Guarantees: p_children holds what is known of the workflows, by workflow:NAME. An unknown one is
--   a problem. Inputs of a node that may be skipped are checked when it runs.
-- Called by: _compile_step.

begin;

create function _qwf.compile_node_parts(
  p_step jsonb, p_path text, p_nodes jsonb, p_children jsonb, p_names jsonb)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg(n.node ->> 'id', coalesce(r.run, '{}') || jsonb_build_object(
    'problems', case when m.error is null then '[]' else jsonb_build_array(
        jsonb_build_object('path', p.path || '.map', 'problem', m.error)) end
      || case when r.run is null then '[]'
        when p.child is not null then r.run -> 'problems'
        else jsonb_build_array(jsonb_build_object('path', p.path || '.workflow',
          'problem', format('there is no workflow "%s"', n.node ->> 'workflow'),
          'hint', coalesce(_qwf.did_you_mean(n.node ->> 'workflow', array(
            select w.name from qwf.workflows w where w.current)),
            'register that workflow first'))) end)), '{}')
  from jsonb_array_elements(_qwf.as_list(p_nodes)) with ordinality n (node, place)
  cross join lateral _qwf.compile_map(n.node -> 'map', p_names) m
  cross join lateral (
    select format('%s.pipeline.nodes[%s]', p_path, n.place - 1) as path,
      p_children -> ('workflow:' || (n.node ->> 'workflow')) as child) p
  cross join lateral (select case when jsonb_typeof(n.node -> 'workflow') = 'string'
    then _qwf.compile_run(
      n.node || jsonb_build_object('id', (p_step ->> 'id') || '/' || (n.node ->> 'id'))
        || case when p_step ? 'skip_if' then jsonb_build_object('skip_if', p_step -> 'skip_if')
          else '{}' end,
      p.path, p.child, p_names, n.node -> 'max_parallel') end as run) r
  where m.error is not null or r.run is not null
$$;

commit;
