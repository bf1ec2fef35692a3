select qwf_test.set_now('2030-01-01');
select qwf.enqueue('waiting'), qwf.enqueue('running', queue => 'cpu');
select qwf_test.claim();
select qwf.cancel_job(qwf_test.job('waiting'), 'x'), qwf.cancel_job(qwf_test.job('running'), 'y');
select results_eq('select at, job_id, kind, login, detail from _qwf.event_log order by id', $$
  values
    ('2030-01-01'::timestamptz, qwf_test.job('waiting'), 'cancelled',
      qwf_test.login(), '{"reason": "x"}'::jsonb),
    ('2030-01-01', qwf_test.job('running'), 'cancel_requested',
      qwf_test.login(), '{"reason": "y"}')
$$, 'unusual events, by the clock of the engine');
