-- 3 tests
select qwf_test.question('choose_one', '{"options": ["cat", "dog", "cow"], "multiple": true}');
create function pg_temp.answer(jsonb) returns bigint language sql as $$
  select qwf.submit_input(qwf_test.run(), 'ask', $1) $$;
select throws_ok($$ select pg_temp.answer('"cat"') $$, 'QW005', null, 'must be a list');
select qwf_test.explains($$ select pg_temp.answer('["cat", "pig"]') $$,
  'value_1_: is not one of the options',
  'each must be an option');
select lives_ok($$ select pg_temp.answer('["cow", "cat"]') $$, 'some of them');
