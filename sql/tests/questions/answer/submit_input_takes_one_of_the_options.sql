-- 6 tests
select qwf_test.question('choose_one', '{"options": ["cat", "dog", 3, null]}');
create function pg_temp.answer(jsonb) returns bigint language sql as $$
  select qwf.submit_input(qwf_test.run(), 'ask', $1) $$;
select throws_ok($$ select pg_temp.answer('"cow"') $$, 'QW005', null, 'not one of them');
select throws_ok($$ select pg_temp.answer('["cat"]') $$, 'QW005', null, 'a list is not an option');
select throws_ok($$ select pg_temp.answer('"3"') $$, 'QW005', null, 'types differ');
select qwf_test.explains($$ select pg_temp.answer('"cow"') $$, 'value: is not one of the options',
  'the error says so');
select lives_ok($$ select pg_temp.answer('3') $$, 'one of them');
select is((select output from qwf.jobs), '{"answer": 3}', 'is stored');
