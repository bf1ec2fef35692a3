-- 2 tests
select qwf_test.set_now('2030-01-01');
select qwf.enqueue('a');
select qwf_test.claim('default');
select is(qwf.finish(qwf_test.job('a'), qwf_test.token('a'), 'completed', '{"n": 1}'), 'ok',
  'taken');
select results_eq($$
  select status::text, output, finished_at, token, lease_expires_at, failures, losses from qwf.jobs
$$, $$
  values ('completed', '{"n": 1}'::jsonb, '2030-01-01'::timestamptz, null::uuid, null::timestamptz,
    0, 0)
$$, 'ended, and held by nobody');
