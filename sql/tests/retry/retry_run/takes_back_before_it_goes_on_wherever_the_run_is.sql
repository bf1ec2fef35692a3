-- 38 tests
create function pg_temp.healthy(p_what text) returns text language sql as $$
  select is_empty('select * from qwf.check_invariants()', p_what) $$;

-- a node that takes back two
select qwf_test.workflow('two', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}, {"id": "c"},
  {"id": "undo", "compensates": ["a", "b"]}]');
select qwf.enqueue_run('two');
select qwf_test.attempt(n) from unnest(array['s/a', 's/c', 's/b']) n;
select results_eq($$ select node_id, verdict, because
    from qwf.retry_plan(qwf_test.run(), 's/b', completed => 'compensate') $$,
  $$ values ('s/a', 'runs again', 's/undo takes it back first'), ('s/c', 'reused', null),
    ('s/b', 'runs again', 'it was named; s/undo takes it back first'),
    ('s/undo', 'runs first', 'it takes back s/a, s/b') $$,
  'all that is taken back runs again');
select is(qwf.retry_run(qwf_test.run(), 's/b', completed => 'compensate'), 2, 'both of them');
select qwf_test.attempt('s/undo');
select is(qwf_test.nodes(), 's/a queued, s/c completed, s/b blocked, s/undo skipped', 'they do');
select pg_temp.healthy('the run is healthy');
select qwf_test.attempt(n) from unnest(array['s/a', 's/b']) n;

-- a definition that no longer has the compensation node
select qwf_test.workflow('two', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}, {"id": "c"}]');
select results_eq($$ select verdict, because
  from qwf.retry_plan(qwf_test.run(), 's/a', latest => true, completed => 'compensate')
  where node_id = 's/undo' $$,
  $$ values ('runs first', 'it takes back s/a, s/b; the definition no longer has it') $$,
  'a compensation node that is gone runs before it goes');
select qwf.retry_run(qwf_test.run(), 's/a', latest => true, completed => 'compensate');
select is(qwf_test.state('s/undo'), 'queued', 'it is there');
select qwf_test.attempt('s/undo');
select is(qwf_test.nodes(), 's/a queued, s/c completed, s/b blocked', 'and gone');
select pg_temp.healthy('the run is healthy');
select qwf.cancel_run(qwf_test.run());

-- skip_if
select qwf_test.workflow('free', '[{"id": "a"}, {"id": "b"}, {"id": "undo", "compensates": ["a"],
  "skip_if": {"$from": "a.free"}}]');
select qwf.enqueue_run('free');
select qwf_test.attempt('s/a', output => '{"free": true}');
select qwf_test.attempt('s/b');
select is(qwf.retry_run(qwf_test.run(), 's/a', completed => 'compensate'), 1,
  'a compensation node may skip itself');
select is(qwf_test.nodes(), 's/a queued, s/b completed, s/undo skipped', 'then the rest runs');
select pg_temp.healthy('the run is healthy');
select qwf_test.attempt('s/a', output => '{"free": false}');

-- cancelled meanwhile
select qwf_test.workflow('order', '[{"id": "reserve"}, {"id": "charge", "depends_on": ["reserve"]},
  {"id": "release", "compensates": ["reserve"]}, {"id": "refund", "compensates": ["charge"]}]');
select qwf.register_workflow('{"name": "order", "deadline": "1 h",
  "steps": [{"id": "s", "kind": "pipeline", "pipeline": "order"}]}');
select qwf.enqueue_run('order');
select qwf_test.attempt(n) from unnest(array['s/reserve', 's/charge']) n;
select qwf.retry_run(qwf_test.run(), 's/charge', completed => 'compensate');
select is(qwf.cancel_run(qwf_test.run()), true, 'a run that takes back first is cancelled');
select is(qwf_test.nodes(), 's/reserve completed, s/charge completed, s/refund queued, '
  's/release blocked', 'then all is taken back, in its order');
select pg_temp.healthy('the run is healthy');
select qwf_test.attempt(n) from unnest(array['s/refund', 's/release']) n;
select is(qwf_test.run_state(), 'cancelled', 'it is cancelled');
select is(qwf_test.nodes(), 's/reserve completed, s/charge completed, s/refund completed, '
  's/release completed', 'and nothing of the retry has run');
select is(qwf.retry_run(qwf_test.run()), 2, 'it may be retried');
select qwf_test.attempt(n) from unnest(array['s/reserve', 's/charge']) n;

-- too late meanwhile
select qwf.retry_run(qwf_test.run(), 's/charge', completed => 'compensate');
select qwf_test.travel('61 minutes');
select qwf.tick();
select is((select ending::text from qwf.runs where id = qwf_test.run()), 'failed',
  'its deadline passes');
select qwf_test.attempt('s/refund');
select is(qwf_test.run_state(), 'failed', 'then it fails');
select is(qwf_test.nodes(), 's/reserve completed, s/charge completed, s/refund completed, '
  's/release skipped', 'when what it began to take back is taken back');
select pg_temp.healthy('the run is healthy');
select is(qwf.retry_run(qwf_test.run()), 1, 'and the charge runs again with the next retry');
select qwf_test.attempt('s/charge');

-- stopped by hand
select qwf.retry_run(qwf_test.run(), 's/charge', completed => 'compensate');
select qwf.cancel_job(qwf_test.job('s/refund'));
select is(qwf_test.run_state(), 'cancelled', 'a compensation node that is stopped has failed');
select is(qwf_test.state('s/charge'), 'completed', 'and nothing of the plan runs');
select results_eq($$ select verdict, code, message from qwf.retry_runs(array[qwf_test.run()]) $$,
  $$ values ('refused', 'QW002', 'a compensation node failed') $$, 'a list of runs is told so');
select is(qwf.retry_run(qwf_test.run(), completed => 'compensate'), 1,
  'what was left is taken back, and runs again');
select qwf_test.attempt('s/refund');
select is(qwf_test.state('s/charge'), 'queued', 'in this order');

-- in line
select qwf.register_workflow('{"name": "l", "steps": [
  {"id": "charge", "node": "charge", "inputs": {"amount": {"$from": "amount"}}},
  {"id": "refund", "node": "refund", "compensates": ["charge"]}]}');
select qwf.create_limit('line', 1);
create temp table run as
select qwf.enqueue_run('l', '{"amount": 1}', limit_by => 'line') as id;
select qwf_test.works(2);
create temp table other as select qwf.enqueue_run('l', '{"amount": 3}', limit_by => 'line') as id;
create function pg_temp.run() returns text language sql as $$
  select concat_ws(' ', r.status, 'charge', (select j.status from qwf.jobs j
    where j.run_id = r.id and j.node_id = 'charge'), 'refund', (select j.status from qwf.jobs j
    where j.run_id = r.id and j.node_id = 'refund'))
  from qwf.runs r join run on run.id = r.id $$;
select throws_ok($$ select qwf.retry_run(id, context => '{"amount": 2}') from run $$, 'QW002',
  'a node runs again that was not taken back', 'a run in line is refused, too');
select is(qwf.retry_run(id, context => '{"amount": 2}', completed => 'compensate'), 1,
  'else it waits') from run;
select is(pg_temp.run(), 'queued charge completed refund skipped', 'nothing changes meanwhile');
select pg_temp.healthy('the database is healthy');
select qwf.cancel_run(id) from other;
select is(pg_temp.run(), 'queued charge completed refund queued', 'then it takes back');
select pg_temp.healthy('the database is healthy');
select qwf.finish(j.job_id, j.token, 'completed')
from qwf.claim('cpu', 'w', 9) j where j.task = 'refund';
select is(pg_temp.run(), 'queued charge queued refund skipped', 'then it goes on, in its place');
select is((select inputs from qwf.claim('cpu', 'w', 9) join run on run.id = run_id
  where task = 'charge'), '{"amount": 2}',
  'with what the retry gave');
select pg_temp.healthy('the database is healthy');
select qwf.finish(j.id, j.token, 'completed') from qwf.jobs j join run on run.id = j.run_id
where j.node_id = 'charge';
select is(pg_temp.run(), 'completed charge completed refund skipped', 'until it completes');
select pg_temp.healthy('the database is healthy');
