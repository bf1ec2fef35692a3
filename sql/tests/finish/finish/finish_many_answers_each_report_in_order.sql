-- 2 tests
select qwf.enqueue('a'), qwf.enqueue('b'), qwf.enqueue('c');
select qwf_test.claim('default', 3);
select results_eq($$
  select job_id, verdict, pending
  from qwf.finish_many(jsonb_build_array(
    jsonb_build_object('job_id', qwf_test.job('c'), 'token', qwf_test.token('c'), 'outcome',
      'completed'),
    jsonb_build_object('job_id', qwf_test.job('a'), 'token', gen_random_uuid(), 'outcome',
      'completed'),
    jsonb_build_object('job_id', qwf_test.job('b'), 'token', qwf_test.token('b'), 'outcome',
      'fatal')))
$$, $$
  values (qwf_test.job('c'), 'ok', false), (qwf_test.job('a'), 'lost', false),
    (qwf_test.job('b'), 'ok', false)
$$, 'a stale report does not affect the others');
select results_eq('select status::text from qwf.jobs order by id',
  array['running', 'failed', 'completed'], 'each for itself');
