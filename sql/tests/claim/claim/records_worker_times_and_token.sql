-- 2 tests
select qwf_test.set_now('2030-01-01 12:00Z');
select qwf.enqueue('mail', '{"to": "ada"}', timeout => '5 min', labels => '{"n": 1}',
  project => 'p');
create temp table claimed as select * from qwf.claim('default', 'w', lease => '20 s');
select results_eq($$
  select status::text, attempt, claimed_by, claimed_at, started_at, lease_expires_at,
    token is not null
  from qwf.jobs where id = qwf_test.job('mail')
$$, $$
  values ('running', 1, 'w', '2030-01-01 12:00Z'::timestamptz, '2030-01-01 12:00Z'::timestamptz,
    '2030-01-01 12:00:20Z'::timestamptz, true)
$$, 'the row shows its worker and its times');
select results_eq($$
  select job_id, token, run_id, node_id, task, queue, inputs, attempt, timeout, out_dir,
    lease_expires_at, project, labels
  from claimed
$$, $$
  select id, token, null::bigint, null, 'mail', 'default', '{"to": "ada"}'::jsonb, 1,
    interval '5 min', null,
    lease_expires_at, 'p', '{"n": 1}'::jsonb
  from qwf.jobs where id = qwf_test.job('mail')
$$, 'the worker is told the same');
