begin;
select plan(5);

select is(qwf.resolve('{"$coalesce": [{"$from": "x.y"}, {"$from": "n"}, {"$from": "a"}, 9]}',
  '{"n": null, "a": false}'), 'false', 'passes over the unresolvable and null, not over false');
select is(qwf.resolve('{"$coalesce": [{"$from": "x"}], "$default": null}', '{}'), 'null',
  'then its default');
select throws_ok($$ select qwf.resolve('{"$coalesce": [null, {"$from": "x"}]}', '{}') $$,
  'QW004', null, 'and without one it is unresolvable');
select qwf_test.explains(
  $$ select qwf.resolve('{"$coalesce": [{"$from": "a", "$filter": {}}, 1]}', '{"a": 1}') $$,
  'invalid%', 'an invalid candidate is an error');
select qwf_test.explains(
  $$ select qwf.resolve('{"$coalesce": [{"$frm": "a"}, 1]}', '{"a": 1}') $$,
  'malformed%', 'so is a malformed one');

select * from finish();
rollback;
