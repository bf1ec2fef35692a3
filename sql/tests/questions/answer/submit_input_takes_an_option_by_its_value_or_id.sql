-- 5 tests
select qwf_test.question('choose_one',
  '{"options": [{"id": "a1", "name": "cat"}, {"value": 7, "label": "seven"}]}');
create function pg_temp.answer(jsonb) returns bigint language sql as $$
  select qwf.submit_input(qwf_test.run(), 'ask', $1) $$;
select throws_ok($$ select pg_temp.answer('"cat"') $$, 'QW005', null, 'not by its name');
select throws_ok($$ select pg_temp.answer('{"id": "a1"}') $$, 'QW005', null,
  'not by a part of it');
select lives_ok($$ select pg_temp.answer('"a1"') $$, 'by its id');
select qwf.enqueue_run('question');
select lives_ok($$ select pg_temp.answer('7') $$, 'by its value');
select qwf.enqueue_run('question');
select lives_ok($$ select pg_temp.answer('{"id": "a1", "name": "cat"}') $$, 'as a whole');
