-- 3 tests
-- Elements of one map are picked together. The first has inputs that its workflow refuses, which
-- ends the map: the others are cancelled, and no run of them starts.
select qwf.register_workflow(
  '{"name": "one", "steps": [{"id": "n", "node": "n", "inputs": {"x": {"$from": "x.y"}}}]}');
select qwf.register_workflow('{"name": "all", "steps": [
  {"id": "each", "kind": "workflow", "workflow": "one", "map": {"$from": "items"},
   "inputs": {"x": {"$from": "item"}}}]}');
select qwf.enqueue_run('all', '{"items": [{"y": 0}, {}, {"y": 1}, {"y": 2}]}');

select results_eq(
  $$select node_id, status::text from qwf.jobs where node_id like 'each[%' order by element$$,
  $$values ('each[0]', 'cancelled'), ('each[1]', 'failed'), ('each[2]', 'cancelled'),
    ('each[3]', 'cancelled')$$, 'the bad one has failed, the others do not run');
select is((select count(*)::int from qwf.runs where parent_id is not null and finished_at is null),
  0, 'no run of them goes on');
select is_empty('select * from qwf.check_invariants()', 'all invariants hold');
