-- 7 tests
select qwf_test.question('number', '{"min": 0.05, "step": 0.1}');
create function pg_temp.answer(jsonb) returns bigint language sql as $$
  select qwf.submit_input(qwf_test.run(), 'ask', $1) $$;
select qwf_test.explains($$ select pg_temp.answer('0.2') $$,
  'value: must be 0.05 plus a multiple of 0.1', 'between two steps');
select qwf_test.explains($$ select pg_temp.answer('1e131000') $$,
  'value: must be 0.05 plus a multiple of 0.1', 'an immense number');
select lives_ok($$ select pg_temp.answer('0.35') $$, 'exactly on a step');
select qwf_test.question('number', '{"step": 0.1, "max": 1}');
select qwf_test.explains($$ select pg_temp.answer('0.25') $$,
  'value: must be 0 plus a multiple of 0.1', 'steps begin at 0 without a min');
select qwf_test.explains($$ select pg_temp.answer('"1"') $$,
  'value: must be of type number, not string', 'no number is on no step');
select lives_ok($$ select pg_temp.answer('-0.3') $$, 'a negative multiple');
select throws_ok($$ select qwf_test.question('number',
  '{"step": 2, "expires": "1 day", "default": 3}') $$, 'QW003', null,
  'a default has to be on a step too');
