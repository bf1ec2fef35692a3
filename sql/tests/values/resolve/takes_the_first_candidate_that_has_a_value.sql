-- 5 tests
select is(qwf.resolve('{"$coalesce": [{"$from": "x.y"}, {"$from": "n"}, {"$from": "a"}, 9]}',
  '{"n": null, "a": false}'), 'false', 'skips unresolvable and null candidates, but not false');
select is(qwf.resolve('{"$coalesce": [{"$from": "x"}], "$default": null}', '{}'), 'null',
  'then the default');
select throws_ok($$ select qwf.resolve('{"$coalesce": [null, {"$from": "x"}]}', '{}') $$,
  'QW004', null, 'unresolvable without a default');
select qwf_test.explains(
  $$ select qwf.resolve('{"$coalesce": [{"$from": "a", "$filter": {}}, 1]}', '{"a": 1}') $$,
  'invalid%', 'an invalid candidate is an error');
select qwf_test.explains(
  $$ select qwf.resolve('{"$coalesce": [{"$frm": "a"}, 1]}', '{"a": 1}') $$,
  'malformed%', 'a malformed one too');
