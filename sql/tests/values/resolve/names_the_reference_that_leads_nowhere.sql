-- 3 tests
select throws_ok($$ select qwf.resolve('{"a": {"$from": "x.y"}}', '{"x": {}}') $$, 'QW004',
  'reference cannot be resolved', 'raises QW004');
select qwf_test.explains($$ select qwf.resolve('{"a": {"$from": "x.y"}}', '{"x": {}}') $$,
  'unresolvable reference x.y', 'the detail names it');
select qwf_test.explains(
  $$ select qwf.resolve('{"bb": {"$from": "q"}, "c": {"$from": "r"}}', '{}') $$,
  'unresolvable reference r', 'of several, the first in order');
