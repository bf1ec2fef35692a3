-- 14 tests
select qwf_test.workflow('w', '[{"id": "charge"}, {"id": "ship", "depends_on": ["charge"]}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/charge');
select qwf_test.attempt('s/ship', 'fatal');
select qwf_test.workflow('w', '[{"id": "charge"}, {"id": "refund", "compensates": ["charge"]},
  {"id": "ship", "depends_on": ["charge"]}]');
select is(qwf.retry_run(qwf_test.run(), latest => true), 1,
  'a run moves to a definition that has a compensation node');
select is(qwf_test.nodes(), 's/charge completed, s/ship queued, s/refund skipped',
  'which is skipped there, too');
select is_empty('select * from qwf.check_invariants()', 'the run is healthy');
select qwf_test.attempt('s/ship', 'fatal');
select qwf_test.attempt('s/refund');
select is(qwf_test.run_state(), 'failed', 'and takes back what was done before');
select qwf_test.workflow('w', '[{"id": "charge"}, {"id": "ship", "depends_on": ["charge"]}]');
select results_eq($$ select node_id, verdict, because
  from qwf.retry_plan(qwf_test.run(), latest => true) $$,
  $$ values ('s/charge', 'runs again', 'it was taken back by s/refund'),
    ('s/ship', 'runs again', 'it failed'),
    ('s/refund', 'removed', 'the definition no longer has it') $$,
  'a definition without that node does not forget what it has taken back');
select is(qwf.retry_run(qwf_test.run(), latest => true), 2, 'so the charge runs again');
select qwf_test.attempt('s/charge');
select qwf_test.attempt('s/ship');
select is(qwf_test.run_state(), 'completed', 'and the run completes');

-- a run in line
select qwf.register_workflow('{"name": "l", "steps": [{"id": "charge", "node": "charge"},
  {"id": "paid", "kind": "input", "signal": "paid", "expires": "2 days", "depends_on": ["charge"]},
  {"id": "refund", "node": "refund", "compensates": ["charge"]}]}');
select qwf.create_limit('narrow', 1);
select qwf.enqueue_run('l', limit_by => 'narrow');
select qwf_test.attempt('charge');
select qwf_test.travel('2 days 1 s');
select qwf.tick();
select is(qwf_test.state('refund'), 'queued', 'nobody has paid for two days');
select qwf_test.attempt('refund');
select is(qwf_test.run_state(), 'failed', 'the run has failed');
select is(qwf.retry_run(qwf_test.run()), 2, 'it waits in line again');
select is(qwf_test.nodes(), 'charge queued, paid blocked, refund skipped', 'and charges again');
select is((select array_agg(coalesce(j.started_at, j.claimed_at)) from qwf.jobs j
  where j.node_id = 'refund' and j.run_id = qwf_test.run()), '{null}',
  'a node that is skipped again took no time');
select is(jsonb_path_query_array(qwf.run_status(qwf_test.run()),
  '$.nodes[*] ? (@.node_id == "refund").seconds'), '[null]', 'as the run says');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
