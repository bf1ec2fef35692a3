-- 6 tests
select qwf_test.question('json', '{"schema": {
  "type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 1}}}}');
create function pg_temp.answer(jsonb) returns bigint language sql as $$
  select qwf.submit_input(qwf_test.run(), 'ask', $1) $$;
select qwf_test.explains($$ select pg_temp.answer('[]') $$,
  'value: must be of type object, not array', 'type');
select qwf_test.explains($$ select pg_temp.answer('{}') $$, 'value.n: is missing', 'required');
select qwf_test.explains($$ select pg_temp.answer('{"n": 0}') $$, 'value.n: must be at least 1',
  'minimum');
select lives_ok($$ select pg_temp.answer('{"n": 1}') $$, 'a value that fits');
select qwf_test.question('text', '{"schema": {"enum": ["cat", "dog"]}}');
select throws_ok($$ select pg_temp.answer('"cow"') $$, 'QW005', null,
  'in addition to the rules of the widget');
select lives_ok($$ select pg_temp.answer('"dog"') $$, 'a value that fits both');
