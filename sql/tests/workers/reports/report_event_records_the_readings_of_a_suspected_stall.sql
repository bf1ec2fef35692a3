-- 5 tests
select qwf_test.set_now('2030-01-01');
select qwf.enqueue('a');
select qwf_test.claim('default');
select ok(qwf.report_event(qwf_test.job('a'), qwf_test.token('a'), 'stall_suspected',
  '{"readings": {"silent_s": 130}}'), 'taken');
select results_eq('select at, job_id, kind, detail from _qwf.event_log', $$
  select '2030-01-01'::timestamptz, qwf_test.job('a'), 'stall_suspected',
    '{"attempt": 1, "worker": "w", "readings": {"silent_s": 130}}'::jsonb
$$, 'with the attempt');
select is(status, 'running', 'the job continues') from qwf.jobs;
select ok(not qwf.report_event(qwf_test.job('a'), gen_random_uuid(), 'stall_suspected', '{}'),
  'not with a stale token');
select is(count(*), 1::bigint, 'which writes nothing') from _qwf.event_log;
