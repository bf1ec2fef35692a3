select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a"}]}');
select results_eq($$ select qwf_test.problems('workflow', '{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p", "inputs": {"x": {"$form": "a"}}}]}') $$,
  array['steps[0].inputs.x: "$form" is not an operator, or its operator is missing'], 'once');
