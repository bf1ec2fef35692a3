-- 2 tests
select qwf.enqueue('a'), qwf.enqueue('b'), qwf.enqueue('c');
select qwf_test.claim('default', 2);
select results_eq($$
  select job_id, verdict, task
  from qwf.finish_and_claim(jsonb_build_array(
    jsonb_build_object('job_id', qwf_test.job('b'), 'token', qwf_test.token('b'), 'outcome',
      'error'),
    jsonb_build_object('job_id', qwf_test.job('a'), 'token', gen_random_uuid(), 'outcome',
      'completed')), 'default', 'w', 5)
$$, $$
  values (qwf_test.job('b'), 'ok', null), (qwf_test.job('a'), 'lost', null),
    (qwf_test.job('c'), null, 'c')
$$, 'in the order of the reports');
select results_eq('select status::text from qwf.jobs order by id',
  array['running', 'failed', 'running'], 'a stale report changes nothing');
