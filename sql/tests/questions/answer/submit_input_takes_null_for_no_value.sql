-- 2 tests
select qwf_test.question('json');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', null) $$,
  'SQL null counts as JSON null');
select is((select output from qwf.jobs), '{"answer": null}', 'the answer is null');
