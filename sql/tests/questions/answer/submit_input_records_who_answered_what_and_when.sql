-- 2 tests
select qwf_test.set_now('2030-01-01');
select qwf_test.question('text');
create temp table first_answer as select qwf.submit_input(qwf_test.run(), 'ask', '"cat"',
  acting_for => 'ada') as id;
select results_eq($$
  select id, job_id, run_id, node_id, value, login, acting_for, answered_at from qwf.input_answers
$$, $$
  select id, qwf_test.job('ask'), qwf_test.run(), 'ask', '"cat"'::jsonb, qwf_test.login(), 'ada',
    '2030-01-01'::timestamptz
  from first_answer $$, 'a row of history');
select qwf_test.question('text');
select qwf.submit_input(qwf_test.run(), 'ask', '"dog"');
select is((select acting_for from qwf.input_answers where run_id = qwf_test.run()), null,
  'the login alone, when nobody is named');
