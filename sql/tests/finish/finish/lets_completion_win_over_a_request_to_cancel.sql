-- 2 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
select qwf.cancel_job(qwf_test.job('a'));
select qwf_test.report('a', output => '{"n": 1}');
select results_eq('select status::text, output from qwf.jobs', $$
  values ('completed', '{"n": 1}'::jsonb) $$,
  'the first writer of the end wins');
select qwf.tick();
select is_empty('select * from qwf.cancel_requests', 'the request is settled');
