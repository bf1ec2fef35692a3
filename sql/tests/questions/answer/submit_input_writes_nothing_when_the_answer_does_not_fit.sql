-- 5 tests
select qwf_test.question('number', '{"max": 5}');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '6') $$, 'QW005',
  'the answer does not fit the question', 'refused');
select qwf_test.explains($$ select qwf.submit_input(qwf_test.run(), 'ask', '6') $$,
  'value: must be at most 5',
  'the detail says what is wrong');
select is_empty('select * from qwf.input_answers', 'no answer');
select is(qwf_test.run_state(), 'awaiting_input', 'the question is still open');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '5') $$, 'a valid one is taken');
