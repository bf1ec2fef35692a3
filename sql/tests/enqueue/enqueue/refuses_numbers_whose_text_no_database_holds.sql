-- 3 tests
create temp table numbers as
select ('{"x": [' || rtrim(repeat('1e131071,', 9001), ',') || ']}')::jsonb as value;
select throws_ok(
  $$ select qwf.enqueue('t', queue => 'cpu', args => n.value) from numbers n $$,
  'QW005', 'value too large', 'as args');
select throws_ok(
  $$ select qwf.enqueue('t', queue => 'cpu', labels => n.value) from numbers n $$,
  'QW005', 'value too large', 'as labels');
select throws_ok(
  $$ select qwf.enqueue('t', queue => 'cpu', backoff => n.value -> 'x') from numbers n $$,
  'QW005', 'invalid job', 'as backoff');
