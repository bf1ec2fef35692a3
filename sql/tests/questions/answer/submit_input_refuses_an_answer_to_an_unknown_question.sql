-- 5 tests
select qwf_test.workflow('one', '[{"id": "a"}]');
select qwf.enqueue_run('one');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'nope', '1') $$, 'QW001',
  'no such input', 'no such node');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 's/a', '1') $$, 'QW001',
  'no such input', 'not a question');
select throws_ok($$ select qwf.submit_input(-1, 'ask', '1') $$, 'QW001', 'no such input',
  'no such run');
select throws_ok($$ select qwf.submit_input(null, null, null) $$, 'QW001', 'no such input',
  'nothing');
select qwf_test.explains($$ select qwf.submit_input(-1, 'ask', '1') $$, '%-1%ask%',
  'the error names both');
