-- 6 tests
select qwf_test.question('number', '{"min": -1, "max": 2.5}');
create function pg_temp.answer(jsonb) returns bigint language sql as $$
  select qwf.submit_input(qwf_test.run(), 'ask', $1) $$;
select throws_ok($$ select pg_temp.answer('"1"') $$, 'QW005', null, 'not a number');
select throws_ok($$ select pg_temp.answer('-1.01') $$, 'QW005', null, 'too small');
select throws_ok($$ select pg_temp.answer('2.51') $$, 'QW005', null, 'too large');
select lives_ok($$ select pg_temp.answer('2.5') $$, 'the bound itself');
select qwf.enqueue_run('question');
select lives_ok($$ select pg_temp.answer('-1') $$, 'the other bound');
select qwf.enqueue_run('question');
select lives_ok($$ select pg_temp.answer('0.1') $$, 'a number in between');
