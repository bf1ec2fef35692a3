-- 6 tests
select qwf_test.question('text', '{"min_length": 2, "max_length": 4, "pattern": "^c"}');
create function pg_temp.answer(jsonb) returns bigint language sql as $$
  select qwf.submit_input(qwf_test.run(), 'ask', $1) $$;
select throws_ok($$ select pg_temp.answer('7') $$, 'QW005', null, 'not a text');
select throws_ok($$ select pg_temp.answer('"c"') $$, 'QW005', null, 'too short');
select throws_ok($$ select pg_temp.answer('"camel"') $$, 'QW005', null, 'too long');
select throws_ok($$ select pg_temp.answer('"dog"') $$, 'QW005', null, 'does not match');
select qwf_test.explains($$ select pg_temp.answer('"d"') $$,
  E'value: must have at least 2 characters\nvalue: must match ^c', 'reports all problems at once');
select lives_ok($$ select pg_temp.answer('"cät"') $$, 'characters are counted, not bytes');
