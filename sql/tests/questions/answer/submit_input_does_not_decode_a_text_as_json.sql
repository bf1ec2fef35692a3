-- 4 tests
select qwf_test.question('text', '{"target": "answer"}');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', to_jsonb('{"a": 1}'::text)) $$,
  'a text that looks like JSON');
select is((select output from qwf.jobs), '{"answer": "{\"a\": 1}"}', 'stays a text');
select qwf_test.question('json', '{"target": "answer"}');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '"7"') $$, 'a text of a digit');
select is((select output from qwf.jobs order by id desc limit 1), '{"answer": "7"}',
  'is not a number');
