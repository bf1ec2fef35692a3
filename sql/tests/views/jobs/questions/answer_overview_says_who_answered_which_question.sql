select qwf_test.set_now('2030-01-01');
select qwf_test.question('confirm', '{"prompt": "Print it?"}');
select qwf_test.travel('1 min');
select qwf.submit_input(qwf_test.run(), 'ask', 'true', acting_for => 'ada');
update qwf.input_answers set answered_at = qwf.now() - interval '5 s';
select results_eq($$
  select job_id, node_id, task, prompt, value, login, acting_for, by_default, ago
  from qwf.answer_overview
  where run_id = qwf_test.run()
$$, $$
  values (qwf_test.job('ask'), 'ask', 'input', 'Print it?', 'true'::jsonb, qwf_test.login(),
    'ada', false, interval '5 s')
$$, 'the question, the answer, and who gave it');
