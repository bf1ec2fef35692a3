-- 8 tests
select qwf.enqueue('a'), qwf.enqueue('b');
select qwf_test.claim('default');
create function pg_temp.call(
  p_queue text, p_worker text, p_max_jobs int, p_outcome text default 'completed',
  p_lease interval default null)
returns setof qwf.verdict_or_job language sql as $$
  select * from qwf.finish_and_claim(jsonb_build_array(jsonb_build_object(
    'job_id', qwf_test.job('a'), 'token', qwf_test.token('a'), 'outcome', p_outcome)),
    p_queue, p_worker, p_max_jobs, p_lease) $$;
select throws_ok($$ select pg_temp.call('tpu', 'w', 1) $$, 'QW006', 'unknown queue',
  'an unknown queue');
select throws_ok($$ select pg_temp.call('default', null, 1) $$, 'QW005', 'invalid claim',
  'no worker');
select throws_ok($$ select pg_temp.call('default', 'w', 0) $$, 'QW005', 'invalid claim', 'no job');
select throws_ok($$ select pg_temp.call('default', 'w', 1001) $$, 'QW005', 'invalid claim',
  'too many jobs');
select throws_ok($$ select pg_temp.call('default', 'w', 1, p_lease => '1 ms') $$, 'QW005',
  'invalid claim', 'a short lease');
select throws_ok($$ select pg_temp.call('default', 'w', 1, 'done') $$, 'QW005', 'malformed report',
  'a malformed report');
select throws_ok($$ select qwf.finish_and_claim('[{"x": 1}]', 'default', 'w') $$, 'QW005', null,
  'an unknown key');
select results_eq('select status::text, attempt from qwf.jobs order by id',
  $$ values ('running', 1), ('queued', 0) $$, 'no report is taken and no job is handed out');
