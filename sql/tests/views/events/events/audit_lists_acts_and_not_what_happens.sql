-- 4 tests
select qwf.enqueue('a', queue => 'cpu', max_losses => 9), qwf.enqueue('b', queue => 'gpu');
select qwf_test.attempt('a', 'lost'), qwf_test.attempt('b', 'cancelled');
select is_empty('select from qwf.audit', 'a loss and a cancelled attempt happened');
select isnt_empty('select from _qwf.event_log', 'and are events');
select qwf.enqueue('c');
select qwf.cancel_job(qwf_test.job('c'), 'enough');
select results_eq('select kind, job_id, login, detail, seq from qwf.audit', $$
  select 'cancelled', qwf_test.job('c'), qwf_test.login(),
    '{"reason": "enough"}'::jsonb, null::bigint
$$, 'somebody cancelled a job, which is listed before it has a number');
select is_empty($$
  select v.kind from regexp_matches(pg_get_viewdef('qwf.audit'::regclass), '''(\w+)''::text', 'g') m
  cross join unnest(m) v (kind)
  where pg_get_indexdef('_qwf.event_log_acts'::regclass) !~ ('''' || v.kind || '''')
$$, 'the index has every kind of the view');
