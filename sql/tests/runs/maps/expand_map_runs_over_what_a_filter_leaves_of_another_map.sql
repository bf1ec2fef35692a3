-- 3 tests
-- An element that failed is null, which has no field.
select qwf_test.workflow('w', '[
  {"id": "detect", "map": {"$value": [{"k": "a"}, {"k": "face"}, {"k": "face"}, {"k": "face"}]},
    "min_success": 2, "inputs": {"kind": {"$from": "item.k"}}},
  {"id": "crop", "depends_on": ["detect"], "map": {"$from": "detect", "$filter":
    {"eq:kind": "face"}}, "inputs": {"of": {"$from": "item.kind"}, "n": {"$from": "index"}}},
  {"id": "none", "depends_on": ["detect"], "map": {"$from": "detect", "$filter":
    {"eq:kind": "cat"}}, "inputs": {"of": {"$from": "item.kind"}}}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/detect[0]'), qwf_test.attempt('s/detect[1]', 'fatal');
select qwf_test.work(), qwf_test.work();
select is((select output from qwf.jobs where node_id = 's/crop'), '[{"n": 0, "of": "face"},
  {"n": 1, "of": "face"}]', 'the failed one is left out');
select is((select output from qwf.jobs where node_id = 's/none'), '[]', 'nothing is left');
select is(qwf_test.run_state(), 'completed', 'the run completes');
