-- 3 tests
set local statement_timeout = '60s';  -- one by one, adding 60,000 members took a minute
create temp table large as
  select jsonb_object_agg('k' || i, i) as value from generate_series(1, 60000) i;
select is(qwf.resolve(value || '{"x": {"$from": "a.b"}}', '{"a": {"b": 5}}'),
  value || '{"x": 5}', 'an object of many members')
from large;

select throws_ok($$ select qwf.resolve(to_jsonb(repeat('x', 2000000)), '{}') $$, 'QW005',
  'value too large', 'a value beyond the bound is refused');
select throws_ok($$ select qwf.resolve('{}', to_jsonb(repeat('x', 2000000))) $$, 'QW005',
  'value too large', 'and so is a scope');
