begin;
select plan(3);

select throws_ok($$ select qwf.resolve('{"a": {"$from": "x.y"}}', '{"x": {}}') $$, 'QW004',
  'reference cannot be resolved', 'is QW004');
select qwf_test.explains($$ select qwf.resolve('{"a": {"$from": "x.y"}}', '{"x": {}}') $$,
  'unresolvable reference x.y', 'names it');
select qwf_test.explains(
  $$ select qwf.resolve('{"bb": {"$from": "q"}, "c": {"$from": "r"}}', '{}') $$,
  'unresolvable reference r', 'the first in order of several');

select * from finish();
rollback;
