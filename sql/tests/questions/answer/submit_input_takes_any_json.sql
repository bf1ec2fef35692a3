-- 2 tests
select qwf_test.question('json');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '{"a": [1, null]}') $$,
  'any value');
select is((select output from qwf.jobs), '{"answer": {"a": [1, null]}}', 'stored as given');
