-- 5 tests
create function pg_temp.registers(p_options jsonb) returns text
language sql
as $$
  select qwf.register_worker('box', 'cpu', jsonb_build_object('task_options', p_options))
$$;
select throws_ok($$ select pg_temp.registers('[]') $$, 'QW005', 'invalid worker', 'a list');
select throws_ok($$ select pg_temp.registers('{"t": 5}') $$, 'QW005', 'invalid worker',
  'a task without options');
select throws_ok($$ select pg_temp.registers('{"t": {"max_attempts": 5}}') $$, 'QW005',
  'invalid worker', 'a number');
select qwf_test.explains($$ select pg_temp.registers('{"t": 5}') $$, '%task_options%',
  'the error names the key');
select lives_ok($$ select pg_temp.registers('{"t": {"max_attempts": "5"}, "u": {}}') $$, 'texts');
