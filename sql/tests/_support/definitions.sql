-- Short ways to look at what registering says and what compiling makes.

create function qwf_test.problems(p_kind text, p_definition jsonb) returns setof text
language plpgsql
as $$
declare
  v_detail text;
begin
  case p_kind
    when 'pipeline' then perform qwf.register_pipeline(p_definition);
    when 'workflow' then perform qwf.register_workflow(p_definition);
  end case;
exception
  when sqlstate 'QW003' then
    get stacked diagnostics v_detail = pg_exception_detail;
    return query select regexp_split_to_table(v_detail, E'\n');
end $$;
comment on function qwf_test.problems(text, jsonb) is
  'The problems that registering a definition reports, one each; none when it is registered.';

create function qwf_test.node_problems(p_node jsonb) returns setof text
language sql
as $$
  select qwf_test.problems('pipeline', jsonb_build_object('name', 'p', 'nodes', jsonb_build_array(
    jsonb '{"id": "up"}', jsonb '{"id": "n"}' || p_node)))
$$;
comment on function qwf_test.node_problems(jsonb) is
  'The problems of node n, the second of pipeline p after node up, with these keys.';

create function qwf_test.step_problems(p_step jsonb) returns setof text
language sql
as $$
  select qwf_test.problems('workflow', jsonb_build_object('name', 'w', 'steps', jsonb_build_array(
    jsonb '{"id": "q", "kind": "input", "widget": "confirm"}', jsonb '{"id": "s"}' || p_step)))
$$;
comment on function qwf_test.step_problems(jsonb) is
  'The problems of step s, the second of workflow w after question q, with these keys.';

create function qwf_test.edges(p_workflow text) returns text
language sql
as $$
  select string_agg(f.node_id || '>' || t.node_id, ' ' order by e.from_idx, e.to_idx)
  from qwf.graph_edges e
  join qwf.graph_nodes f on f.graph_id = e.graph_id and f.idx = e.from_idx
  join qwf.graph_nodes t on t.graph_id = e.graph_id and t.idx = e.to_idx
  where e.graph_id = _qwf.graph_for(p_workflow)
$$;
comment on function qwf_test.edges(text) is 'The dependencies in the graph of a workflow.';

create function qwf_test.compiled(p_workflow text, p_node text) returns qwf.graph_nodes
language sql
as $$
  select n
  from qwf.graph_nodes n
  where n.graph_id = _qwf.graph_for(p_workflow) and n.node_id = p_node
$$;
comment on function qwf_test.compiled(text, text) is 'One node of the graph of a workflow.';
