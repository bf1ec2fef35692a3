-- 4 tests
select qwf.register_pipeline('{"name": "p", "inputs": {"properties": {"names": {}}}, "nodes": [
  {"id": "first"}, {"id": "each", "map": {"$from": "pipeline.names"}}]}');
select results_eq(
  format('select qwf_test.step_problems(%L)',
    jsonb '{"kind": "pipeline", "pipeline": "p", "depends_on": ["q"]}'
      || jsonb_build_object('inputs', c.inputs)),
  case when c.problem is null then '{}'
    else array['steps[1].pipeline.nodes[1].map: ' || c.problem] end, c.inputs::text)
from (values
  (jsonb '{"names": "Ada"}', 'gives a value of type string, not a list'),
  ('{}', 'gives a value of type null, not a list'),
  ('{"names": ["Ada"]}', null),
  ('{"names": {"$from": "q.value"}}', null)) c (inputs, problem);
