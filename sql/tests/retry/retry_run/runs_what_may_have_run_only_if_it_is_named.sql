-- 16 tests
create function pg_temp.plan(p_from text default null) returns text language sql as $$
  select string_agg(format('%s %s: %s', p.node_id, p.verdict, p.because), ', ')
  from qwf.retry_plan(qwf_test.run(), p_from) p where p.verdict = 'runs again' $$;
select qwf_test.workflow('w', '[
  {"id": "a"},
  {"id": "mail", "map": [1, 2, 3], "inputs": {"n": {"$from": "item"}}, "at_most_once": true},
  {"id": "post", "at_most_once": true}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a');
select qwf.claim('cpu', 'w', 9, startable => 9);
select qwf_test.report('s/mail[0]'), qwf_test.report('s/mail[1]', 'released'),
  qwf_test.report('s/mail[2]', 'lost'), qwf_test.report('s/post', 'lost', error => 'gone');
select is(qwf_test.nodes(), 's/a completed, s/mail failed, s/post cancelled,'
  ' s/mail[0] completed, s/mail[1] failed, s/mail[2] cancelled', 'no try follows');
select is(pg_temp.plan(), 's/mail runs again: it failed; elements reused: 1 of 3;'
  ' it may have run: s/mail[1], s/mail[2], s/post runs again: it was cancelled; it may have run',
  'the plan says it');
select throws_matching($$ select qwf.retry_run(qwf_test.run()) $$, 'it may have run',
  'a retry refuses it');
select throws_matching($$ select qwf.retry_run(qwf_test.run(), 's/a') $$, 'it may have run',
  'also from a node before it');
select throws_matching($$ select qwf.retry_run(qwf_test.run(), named => '{s/post,s/mail[1]}') $$,
  'it may have run', 'and if one is not named');
select qwf_test.explains($$ select qwf.retry_run(qwf_test.run(), named => '{s/post,s/mial}') $$,
  '%has no node ''s/mial''%', 'and a name of no node');
select is((select v.verdict || ': ' || v.hint from qwf.retry_runs(array[qwf_test.run()]) v),
  format('refused: look whether it has run; if it has not, name it: select qwf.retry_run(%s, '
  'named => ''{s/mail,s/post}'')', qwf_test.run()), 'and so does a retry of many');
select is((select string_agg(v.verdict, ' ') from qwf.retry_jobs(array[qwf_test.job('s/post')]) v),
  'refused', 'or of many jobs');
select is(qwf.retry_run(qwf_test.run(), named => '{s/post,s/mail}'), 2, 'named, it runs again');
select is(qwf_test.nodes(), 's/a completed, s/mail blocked, s/post queued,'
  ' s/mail[0] completed, s/mail[1] queued, s/mail[2] queued', 'and what has run does not');
select is((select count(*) from qwf.jobs j where j.begun and j.status <> 'completed'), 0::bigint,
  'as if it had not begun');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');

select qwf.claim('cpu', 'w', 9, startable => 9);
select qwf_test.report('s/mail[1]'), qwf_test.report('s/mail[2]'), qwf_test.report('s/post');
select is(qwf_test.run_state(), 'completed', 'all have run');
select is(qwf.retry_run(qwf_test.run(), 's/post'), 1, 'who names it from the start, too');

select qwf.enqueue('alone', queue => 'cpu', at_most_once => true);
select qwf.claim('cpu', 'w', 9, startable => 9);
select qwf_test.report('alone', 'lost');
select is((select v.message || ': ' || v.hint from qwf.retry_jobs(array[qwf_test.job('alone')]) v),
  format('it may have run: look whether it has run; if it has not, retry it by its id: '
  'select qwf.retry_job(%s)', qwf_test.job('alone')), 'a job alone');
select lives_ok($$ select qwf.retry_job(qwf_test.job('alone')) $$, 'by its id');
