-- 5 tests
select qwf_test.question('choose_one',
  '{"options": ["a", "b"], "expires": "2 days", "default": "b"}');
select qwf_test.travel('1 day');
select is(_qwf.expire_inputs(), 0, 'not yet');
select qwf_test.travel('1 day');
select is(_qwf.expire_inputs(), 1, 'now');
select results_eq('select value, login, by_default from qwf.input_answers',
  $$ values ('"b"'::jsonb, qwf_test.login(), true) $$, 'nobody gave it');
select is((select output from qwf.jobs), '{"answer": "b"}', 'as if a person had answered');
select is(qwf.run_status(qwf_test.run()) #>> '{nodes,0,message}',
  'nobody answered in time, its default was taken', 'the run says so');
