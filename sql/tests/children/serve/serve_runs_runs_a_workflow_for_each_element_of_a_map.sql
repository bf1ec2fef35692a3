-- 17 tests
select qwf_test.register_album();
select results_eq($$ select node_id, queue, task, workflow, child_graph_id is null, max_parallel
  from qwf.graph_nodes n join qwf.graphs g on g.id = n.graph_id
  where g.child_ids <> '{}' order by idx $$, $$ values
  ('scan', 'cpu', 'scan', null, true, null),
  ('each', 'qwf.runs', 'qwf.run:one', 'one', false, 2),
  ('sum', 'cpu', 'sum', null, true, null) $$, 'the step is a job of the engine');
create temp table run as
  select qwf.enqueue_run('album', '{"list": ["p", "q", "r"]}', priority => 7,
    labels => '{"l": 1}', out_dir => 'day', project => 'shop') as id;
select is(qwf_test.works(1), 'scan:ok', 'the list is there');
select results_eq($$ select c.context, c.status::text, c.priority, c.labels, c.out_dir, c.project,
    c.depth, c.parent_attempt, j.node_id, j.claimed_by
  from qwf.runs c join qwf.jobs j on j.id = c.parent_id order by c.id $$, $$ values
  ('{"x": "p", "size": 5}'::jsonb, 'queued', 7, '{"l": 1}'::jsonb, 'day', 'shop', 1, 1,
    'each[0]', 'qwf.engine'),
  ('{"x": "q", "size": 5}', 'queued', 7, '{"l": 1}', 'day', 'shop', 1, 1, 'each[1]',
    'qwf.engine') $$, 'two of three run, as max_parallel says, in the finish that opened them');
select is_empty('select * from qwf.check_invariants()', 'invariants');
select is(qwf.why_not(j.id), 'it is run ' || r.id || ' of one, queued, 0 of 2 nodes done',
  'why says which run it is')
from qwf.jobs j join qwf.runs r on r.parent_id = j.id where j.node_id = 'each[0]';
select is(qwf_test.works(1), 'crop:ok crop:ok', 'the first nodes');
select is(qwf_test.works(1), 'write:ok write:ok', 'the last nodes of two runs');
select is((select count(*) from qwf.runs where depth = 1), 3::bigint, 'the third has begun');
select is(qwf_test.works(9), 'crop:ok write:ok sum:ok', 'it ends, and what follows runs');
select results_eq('select status::text, depth from qwf.runs order by id', $$ values
  ('completed', 0), ('completed', 1), ('completed', 1), ('completed', 1) $$, 'all completed');
select is(output, '[{"x": "p", "text": "P"}, {"x": "q", "text": "Q"}, {"x": "r",
  "text": "R"}]'::jsonb,
  'the step gives the outputs of the runs, in the order of the list')
from qwf.jobs where node_id = 'each';
select is_empty('select * from qwf.check_invariants()', 'invariants');
select is_empty('select from qwf.outbox', 'nothing waits');
select results_eq($$ select run_id = (select id from run),
  (detail ->> 'parent')::bigint = (select id from run)
  from _qwf.event_log where kind = 'run_ended' order by id $$, $$ values
  (false, true), (false, true), (false, true), (true, null) $$, 'the event names the run above');
select results_eq($$ select id from qwf.find_runs() $$, 'select id from run',
  'runs of steps are not among all runs');
select is((select count(*) from run, qwf.find_runs(jsonb_build_object('parent', run.id))),
  3::bigint,
  'but are found by the run above them');
select results_eq($$ select c ->> 'node_id', c ->> 'status', (c ->> 'done')::int
  from run, jsonb_path_query(qwf.run_status(run.id), '$.nodes[*].child_runs[*]') c $$, $$ values
  ('each[0]', 'completed', 2), ('each[1]', 'completed', 2), ('each[2]', 'completed', 2) $$,
  'and in the status of the node');
