-- 15 tests
-- a map is taken back as a whole, element by element
select qwf_test.workflow('w', '[
  {"id": "charge", "map": [1, 2], "inputs": {"of": {"$from": "item"}}},
  {"id": "refund", "compensates": ["charge"], "map": {"$from": "charge"}, "max_parallel": 1,
    "inputs": {"of": {"$from": "item.of"}}},
  {"id": "ship", "depends_on": ["charge"]}]');
select qwf.enqueue_run('w');
select qwf_test.work();
select qwf_test.attempt('s/ship', 'fatal');
select is(string_agg(format('%s %s', j.node_id, j.status), ', ' order by j.id),
  's/refund blocked, s/refund[0] queued, s/refund[1] blocked',
  'each element of a map is taken back')
from qwf.jobs j where j.run_id = qwf_test.run() and j.node_id like 's/refund%';
select is(qwf_test.work() + qwf_test.work(), 2, 'one after the other');
select is(qwf_test.run_state(), 'failed', 'then the run has failed');
select is(qwf.retry_run(qwf_test.run()), 2, 'both nodes run again');
select is(qwf_test.nodes(), 's/charge blocked, s/ship blocked, s/refund skipped, '
  's/charge[0] queued, s/charge[1] queued', 'the map with all its elements');
select qwf_test.attempt('s/charge[0]', output => '{"of": 1}');
select qwf_test.attempt('s/charge[1]', 'fatal');
select is(qwf_test.work(), 1, 'of a map that failed it takes back the element that completed');
select is(qwf_test.nodes(), 's/charge failed, s/ship cancelled, s/refund completed, '
  's/charge[0] completed, s/refund[0] completed, s/charge[1] failed', 'and no other');
select is_empty('select * from qwf.check_invariants()', 'the run is healthy');

-- a run of a step takes back what is its own; the run above takes back the step
select qwf.register_workflow('{"name": "pay", "steps": [
  {"id": "take", "node": "x", "inputs": {"do": "take"}},
  {"id": "give", "node": "x", "inputs": {"do": "give"}, "compensates": ["take"]},
  {"id": "book", "node": "x", "inputs": {"do": "book"}, "depends_on": ["take"]}]}');
select qwf.register_workflow('{"name": "order", "steps": [
  {"id": "sure", "kind": "input", "widget": "confirm"},
  {"id": "unsure", "node": "x", "inputs": {"do": "unsure"}, "compensates": ["sure"]},
  {"id": "pay", "kind": "workflow", "workflow": "pay", "depends_on": ["sure"]},
  {"id": "refund", "kind": "workflow", "workflow": "pay", "compensates": ["pay"]},
  {"id": "ship", "node": "x", "inputs": {"do": "ship"}, "depends_on": ["pay"]}]}');
create temp table run as select qwf.enqueue_run('order') as id;
select qwf.submit_input(run.id, 'sure', 'true') from run;
select is(qwf_test.works(9, '%book%'), 'take:ok book:ok give:ok unsure:ok',
  'a run of a step that fails takes back its own first, then the run above does');
select results_eq('select p.node_id, p.verdict, p.because from run, qwf.retry_plan(run.id) p', $$
  values ('sure', 'runs again', 'it was taken back by unsure'), ('pay', 'runs again',
      'it failed; run ' || (select max(id) from qwf.runs) || ' goes on'),
    ('ship', 'runs again', 'it was cancelled'),
    ('refund', 'skipped', 'it runs only if the run fails or is cancelled'),
    ('unsure', 'skipped', 'it runs only if the run fails or is cancelled') $$,
  'an answer can be taken back, too');
select qwf.retry_run(run.id) from run;
select qwf.submit_input(run.id, 'sure', 'true') from run;
select is(qwf_test.works(9, '%ship%'), 'take:ok book:ok ship:ok take:ok book:ok unsure:ok',
  'a run of a step that completed is taken back by a node of the run above, here a run itself');
select qwf.retry_run(run.id) from run;
select qwf.submit_input(run.id, 'sure', 'true') from run;
select is(qwf_test.works(2, '%book%') || ' ' || qwf_test.works(1, '%give%'),
  'take:ok book:ok give:ok', 'the refund in the run of a step fails');
select qwf_test.works(9);
select throws_ok(format('select qwf.retry_run(%s)', run.id), 'QW002', 'a compensation node failed',
  'then a retry does not go on with that run')
from run;
select qwf.retry_run(run.id, 'pay') from run;
select qwf.submit_input(run.id, 'sure', 'true') from run;
select is(qwf_test.works(9), 'take:ok book:ok ship:ok', 'unless the step is named');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
