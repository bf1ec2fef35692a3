-- 3 tests
select qwf.enqueue('a');
select qwf_test.attempt('a', 'lost', detail => '{"reason": "oom", "signal": 9}');
select results_eq('select kind, login, job_id, detail from _qwf.event_log', $$
  values ('lost', qwf_test.login(), qwf_test.job('a'),
    '{"attempt": 1, "worker": "w", "reason": "oom", "signal": 9, "now": "queued"}'::jsonb)
$$, 'an unusual event');
select qwf_test.attempt('a');
select is((select count(*) from _qwf.event_log), 1::bigint, 'completing is not unusual');
select qwf.enqueue('b', max_attempts => 2, backoff => '[0]');
select qwf_test.attempt('b', 'error'), qwf_test.attempt('b', 'released'),
  qwf_test.attempt('b', 'error');
select results_eq('select kind, subject, detail from _qwf.event_log order by id desc limit 1',
  $$ values ('job_failed', null, '{"error": "error", "attempt": 3}'::jsonb) $$,
  'nor is a failure that is retried, or a release');
