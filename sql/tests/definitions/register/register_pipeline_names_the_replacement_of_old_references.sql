-- 4 tests
select results_eq($$ select qwf_test.problems('pipeline', '{"name": "p", "nodes": [{"id": "a",
  "inputs": [
  {"name": "x", "from": "pipeline._implicit(3.5)"},
  {"name": "y", "from": "pipeline._siblings([b, c])"}]}]}') $$, array[
  'nodes[0].inputs[0].from: "_implicit" is not a reference',
  'nodes[0].inputs[1].from: "_siblings" is not a reference'], 'both are refused');
select is(p.hint,
  'write inputs as an object, {"name": value, ...}; a list of them takes references only',
  'a literal for _implicit')
from _qwf.pipeline_problems('{"name": "p", "nodes": [{"id": "a", "inputs": [
  {"name": "x", "from": "pipeline._implicit(3)"}]}]}') p;
select matches(p.hint, '<node>.files', 'files for _siblings')
from _qwf.pipeline_problems('{"name": "p", "nodes": [{"id": "a", "inputs": [
  {"name": "x", "from": "pipeline._siblings([b])"}]}]}') p;
select is_empty($$ select * from _qwf.pipeline_problems(
  '{"name": "p", "nodes": [{"id": "a", "inputs": {"x": 3.5, "y": {"$from": "pipeline.y"}}}]}') $$,
  'which is taken');
