-- 6 tests
select is(_qwf.difference('{"a": 1, "b": 2}', '{"a": 1, "b": 3}'),
  '{"old": {"b": 2}, "new": {"b": 3}}', 'a changed value');
select is(_qwf.difference(null, '{"a": 1, "b": null}'), '{"new": {"a": 1}}', 'something new');
select is(_qwf.difference('{"a": 1}', null), '{"old": {"a": 1}}', 'something deleted');
select is(_qwf.difference('{"a": null, "b": false}', '{"b": false}'), null, 'nothing differs');
select is(_qwf.difference('{"a": null}', '{"a": 0}'), '{"new": {"a": 0}}', 'a value that was null');
select is(_qwf.difference('{}', jsonb_build_object('a', repeat('x', 501))),
  jsonb_build_object('new', jsonb_build_object('a', repeat('x', 500) || '...')),
  'a long one is cut');
