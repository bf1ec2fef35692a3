-- 10 tests
select qwf_test.workflow('w', '[{"id": "mail", "at_most_once": true}, {"id": "log"}]');
select qwf.create_limit('line', 1);
create temp table run as
select qwf.enqueue_run('w', limit_by => 'line', max_attempts => 3, backoff => '[0]') as id;
select qwf_test.claim('cpu', 9);
select qwf_test.report('s/log', 'fatal');
select is(qwf_test.run_state(), 'running', 'the run waits for its other body');
select qwf_test.report('s/mail', 'lost');
select is(qwf_test.run_state(), 'failed', 'which may have run, so there is no other try');
select is((select string_agg(kind, ' ' order by id) from _qwf.event_log
  where kind in ('retried', 'run_ended')), 'run_ended', 'this end is told');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');

create temp table other as select qwf.enqueue_run('w', limit_by => 'line') as id;
select throws_ok($$ select qwf.retry_run(id) from run $$, 'QW002', 'it may have run',
  'a retry refuses it');
select is(qwf.retry_run(id, named => '{s/mail}'), 2, 'unless it is named') from run;
select is_empty($$ select from qwf.jobs j join run on run.id = j.run_id
  where j.finished_at is null $$, 'it waits in line');
select qwf.cancel_run(id) from other;
select is((select array_agg(node_id order by node_id) from qwf.claim('cpu', 'w', 9)
  where run_id = (select id from run)), array['s/log', 's/mail'], 'then it runs');
select qwf.finish(j.id, j.token, 'fatal', error => 'boom') from qwf.jobs j
where j.node_id = 's/log' and j.status = 'running';
select qwf.finish(j.id, j.token, 'completed') from qwf.jobs j
where j.node_id = 's/mail' and j.status = 'running';
select is((select r.status::text from qwf.runs r join run using (id)), 'queued',
  'what its body has written itself lets the next try begin');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
