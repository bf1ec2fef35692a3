-- Deploy qwf:functions/drawings/_drawn_node
-- Purpose: Returns what a drawing of a graph shows of a node, whatever its state.
-- Guarantees: Keys without a value are left out. Holds no inputs and no list of a map, so a graph
--   of 1,000 nodes stays small.
-- Called by: run_graph, workflow_graph.

begin;

create function _qwf.drawn_node(p_node qwf.graph_nodes, p_title text) returns jsonb
language sql stable
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'idx', p_node.idx, 'id', p_node.node_id, 'step', p_node.step_id, 'title', p_title,
    'pipeline', p_node.pipeline, 'workflow', p_node.workflow,
    'task', coalesce(p_node.workflow, p_node.task),
    'queue', case when p_node.workflow is null then p_node.queue end,
    'model', p_node.required_model, 'vram_mb', p_node.vram_mb, 'limit_by', p_node.limit_by,
    'light', nullif(p_node.light, false), 'requires', nullif(p_node.requires, '{}'),
    'on_failure', nullif(p_node.on_failure, 'fail'), 'run_if', nullif(p_node.run_if, 'compensates'),
    'compensates', to_jsonb(p_node.compensates),
    'may_skip', nullif(coalesce(p_node.skip_if, 'false') <> 'false', false),
    'delay', p_node.delay, 'at_most_once', p_node.at_most_once,
    'repeat', case when p_node.repeat is not null then jsonb_build_object(
      'max', p_node.repeat -> 'max', 'every_s', extract(epoch from _qwf.as_interval(
        p_node.repeat -> 'every'))) end,
    'map', nullif(p_node.map is not null, false), 'max_parallel', p_node.max_parallel,
    'min_success', p_node.min_success,
    'stop_when_reached', nullif(p_node.stop_when_reached, false),
    'asks', case when p_node.input_spec is not null then jsonb_build_object(
      'widget', p_node.input_spec -> 'widget',
      'prompt', case jsonb_typeof(p_node.input_spec -> 'prompt')
        when 'string' then left(p_node.input_spec ->> 'prompt', 500) end) end))
$$;

commit;
