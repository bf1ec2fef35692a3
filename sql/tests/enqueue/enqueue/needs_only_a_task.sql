select qwf_test.set_now('2030-01-01');
create temp table made as select qwf.enqueue('mail') as id;
select results_eq($$
  select id, task, inputs, queue, status::text, priority, project, key, once, labels, requires,
    run_at, max_attempts,
    backoff, timeout, required_model, vram_mb, run_id, attempt, created_at, queued_at,
    login, acting_for, schedule
  from qwf.job_details
$$, $$
  select id, 'mail', '{}'::jsonb, 'default', 'queued', 100, '', null::text, false, '{}'::jsonb,
    '{}'::jsonb,
    null::timestamptz, null::int, null::jsonb, null::interval, null::text, null::int, null::bigint,
      0,
    '2030-01-01'::timestamptz, '2030-01-01'::timestamptz,
    qwf_test.login(), null::text, null::text
  from made
$$, 'the id of a job that is queued, with the defaults');
