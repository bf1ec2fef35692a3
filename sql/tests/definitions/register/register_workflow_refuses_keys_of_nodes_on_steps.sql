-- 2 tests
select qwf.register_pipeline('{"name": "p", "nodes": []}');
select set_eq($$ select qwf_test.step_problems('{"kind": "pipeline", "pipeline": "p", "map": [1],
  "max_parallel": 2, "min_success": 1, "run_if": "all_done", "on_failure": "ask",
  "limit_by": "api", "stop_when_reached": true, "repeat": {}}') $$,
  array(select format('steps[1].%s: belongs to a node of a pipeline', k)
    from unnest('{map,max_parallel,min_success,stop_when_reached,repeat,run_if,on_failure,
      limit_by}'::text[]) k),
  'each');
select qwf_test.explains($$ select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p", "map": [1]}]}') $$,
  'steps[0].map: belongs to a node of a pipeline', 'with the way out');
