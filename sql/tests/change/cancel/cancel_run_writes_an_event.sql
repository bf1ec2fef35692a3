select qwf_test.set_now('2030-01-01');
select qwf_test.question('confirm');
select qwf.cancel_run(qwf_test.run(), 'bored');
select results_eq('select at, run_id, job_id, kind, login, detail from _qwf.event_log
  where kind = ''cancelled''', $$
  values ('2030-01-01'::timestamptz, qwf_test.run(), null::bigint, 'cancelled',
    qwf_test.login(),
    '{"reason": "bored"}'::jsonb) $$, 'an unusual event of the run as a whole');
