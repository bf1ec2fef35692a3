-- 34 tests
select qwf_test.workflow('w', '[{"id": "reserve"}, {"id": "release", "compensates": ["reserve"]},
  {"id": "charge", "depends_on": ["reserve"], "inputs": {"amount": {"$from": "amount"}}},
  {"id": "refund", "compensates": ["charge"], "inputs": {"of": {"$from": "charge.n"},
    "why": {"$from": "run.error"}}},
  {"id": "ship", "depends_on": ["charge"]}]');
select qwf.enqueue_run('w', '{"amount": 10}');
select qwf_test.attempt('s/reserve');
select qwf_test.attempt('s/charge', output => '{"n": 1}');
select qwf_test.attempt('s/ship');
select is(qwf_test.run_state(), 'completed', 'an order completes');

-- without a word
select results_eq($$ select node_id, verdict, because
    from qwf.retry_plan(qwf_test.run(), context => '{"amount": 12}') $$,
  $$ values ('s/reserve', 'reused', null),
    ('s/charge', 'runs again',
      'it reads amount of the context, which changed; s/refund has not taken it back'),
    ('s/ship', 'runs again', 's/charge runs again'),
    ('s/refund', 'skipped', 'it runs only if the run fails or is cancelled'),
    ('s/release', 'skipped', 'it runs only if the run fails or is cancelled') $$,
  'the plan says what stays done');
select throws_ok($$ select qwf.retry_run(qwf_test.run(), context => '{"amount": 12}') $$, 'QW002',
  'a node runs again that was not taken back', 'so the retry is refused');
select throws_ok($$ select qwf.retry_run(qwf_test.run(), 's/charge') $$, 'QW002',
  'a node runs again that was not taken back', 'also if the node is named');
select throws_ok($$ select qwf.retry_job(qwf_test.job('s/charge')) $$, 'QW002',
  'a node runs again that was not taken back', 'by its job, too');
select throws_ok($$ select qwf.retry_run(qwf_test.run(), 's/charge', completed => 'both') $$,
  'QW005', 'invalid choice', 'there are two answers');
select throws_ok($$ select qwf.retry_run(qwf_test.run(), 's/ship', completed => 'keep') $$, 'QW005',
  'there is nothing to compensate or keep', 'and none where nothing is asked');
select throws_ok($$ select * from qwf.retry_plan(qwf_test.run(), 's/ship',
    completed => 'compensate') $$, 'QW005', null, 'nor by the plan');
select is(qwf_test.nodes(), 's/reserve completed, s/charge completed, s/ship completed, '
  's/refund skipped, s/release skipped', 'nothing has changed');

-- compensate
select results_eq($$ select node_id, verdict, because
    from qwf.retry_plan(qwf_test.run(), context => '{"amount": 12}', completed => 'compensate') $$,
  $$ values ('s/reserve', 'reused', null),
    ('s/charge', 'runs again',
      'it reads amount of the context, which changed; s/refund takes it back first'),
    ('s/ship', 'runs again', 's/charge runs again'),
    ('s/refund', 'runs first', 'it takes back s/charge'),
    ('s/release', 'skipped', 'it runs only if the run fails or is cancelled') $$,
  'the plan says what runs first');
select is(qwf.retry_run(qwf_test.run(), context => '{"amount": 12}', completed => 'compensate'), 2,
  'two nodes run');
select is(qwf_test.nodes(), 's/reserve completed, s/charge completed, s/ship completed, '
  's/refund queued, s/release skipped', 'the refund alone is open');
select is(qwf_test.run_state(), 'queued', 'the run is live');
select is_empty('select * from qwf.check_invariants()', 'and healthy');
select throws_ok($$ select qwf.retry_run(qwf_test.run()) $$, 'QW002', 'the run is not over',
  'it is not retried meanwhile');
select qwf_test.claim();
select is((select resolved_inputs from qwf.jobs where node_id = 's/refund'),
  '{"of": 1, "why": "it is taken back before it runs again"}', 'it takes back what was done');
select is(qwf_test.run_state(), 'running', 'the run is running');
select qwf_test.report('s/refund', 'fatal', error => 'bank is closed');
select is((select (status, error, then_retry)::text from qwf.runs),
  '(failed,"s/refund failed: bank is closed",)', 'if that fails, the run fails');
select is(qwf_test.nodes(), 's/reserve completed, s/charge completed, s/ship completed, '
  's/refund failed, s/release skipped', 'and nothing else has run');
select is_empty('select * from qwf.check_invariants()', 'it is healthy');
select is((select context from qwf.runs), '{"amount": 10}', 'its context is as it was');

-- once more
select throws_ok($$ select qwf.retry_run(qwf_test.run(), context => '{"amount": 12}') $$, 'QW002',
  'a compensation node failed', 'without a word it is refused');
select is(qwf.retry_run(qwf_test.run(), context => '{"amount": 12}', completed => 'compensate'), 2,
  'it is taken back once more');
select qwf_test.attempt('s/refund');
select is(qwf_test.nodes(), 's/reserve completed, s/charge queued, s/ship blocked, '
  's/refund skipped, s/release skipped', 'then the charge runs again');
select is((select (status, context, then_retry)::text from qwf.runs),
  '(queued,"{""amount"": 12}",)', 'with the context of the retry');
select is_empty('select * from qwf.check_invariants()', 'the run is healthy');
select is((select count(*) from qwf.event_overview where kind = 'run_ended'), 2::bigint,
  'nobody is told that it has ended');
select qwf_test.attempt('s/charge', output => '{"n": 2}');
select qwf_test.attempt('s/ship');
select is(qwf_test.run_state(), 'completed', 'until it has');

-- keep
select is(qwf.retry_run(qwf_test.run(), 's/charge', completed => 'keep'), 2, 'it may stay');
select is(qwf_test.nodes(), 's/reserve completed, s/charge queued, s/ship blocked, '
  's/refund skipped, s/release skipped', 'then the charge runs again at once');
select qwf_test.attempt('s/charge', output => '{"n": 2}');
select qwf_test.attempt('s/ship');

-- in order
select is(qwf.retry_run(qwf_test.run(), 's/reserve', completed => 'compensate'), 3,
  'what came after a node is taken back, too');
select is(qwf_test.nodes(), 's/reserve completed, s/charge completed, s/ship completed, '
  's/refund queued, s/release blocked', 'before that node');
select qwf_test.attempt('s/refund');
select qwf_test.attempt('s/release');
select is(qwf_test.nodes(), 's/reserve queued, s/charge blocked, s/ship blocked, '
  's/refund skipped, s/release skipped', 'then all run again');
select is_empty('select * from qwf.check_invariants()', 'the run is healthy');
