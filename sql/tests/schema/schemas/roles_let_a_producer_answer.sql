-- 2 tests
select qwf_test.question('confirm');
select lives_ok(format($$
  select qwf_test.as_role('qwf_producer', 'select qwf.submit_input(%s, ''ask'', ''true'')')
$$, qwf_test.run()), 'an application answers for people');
select is(qwf_test.run_state(), 'completed', 'with the rights of the engine');
