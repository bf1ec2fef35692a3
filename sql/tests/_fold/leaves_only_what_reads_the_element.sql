begin;
select plan(14);

select is(_qwf.fold(c.value, '{"$context": {"k": 5, "text": "$from"},
    "s/a": {"list": [{"id": 1}, {"id": 2}]}, "s/gone": null, "$files": {"s": [{"kind": "csv"}]}}'),
  c.folded, c.description)
from (values
  (jsonb '{"a": [1, {"b": null}]}', jsonb '{"a": [1, {"b": null}]}', 'plain data stays'),
  ('{"k": {"$from": ["$context", "k"]}, "n": 1}', '{"k": 5, "n": 1}',
    'what reads no element is worked out'),
  ('{"i": {"$from": ["$item", "x"]}, "n": {"$from": ["$index"]}}',
    '{"i": {"$from": ["$item", "x"]}, "n": {"$from": ["$index"]}}', 'what reads it stays'),
  ('{"i": {"$from": ["$item"]}, "k": {"$from": ["$context", "k"]}, "l": [3]}',
    '{"i": {"$from": ["$item"]}, "k": 5, "l": [3]}', 'side by side'),
  ('[{"$from": ["s/a", "list"], "$filter": {"eq:id": {"$from": ["$item", "id"]}}}]',
    '[{"$from": [{"$value": [{"id": 1}, {"id": 2}]}],
      "$filter": {"eq:id": {"$from": ["$item", "id"]}}}]', 'a list to look the element up in'),
  ('{"$from": ["$item", "x"], "$default": {"$from": ["$context", "k"]}}',
    '{"$from": ["$item", "x"], "$default": 5}', 'a default of it'),
  ('{"$coalesce": [{"$from": ["s/b"]}, {"$from": ["$item"]}, {"$from": ["$context", "k"]}]}',
    '{"$coalesce": [{"$from": ["s/b"]}, {"$from": ["$item"]}, 5]}', 'candidates'),
  ('{"$from": [{"$coalesce": [{"$from": ["$item"]}, {"$from": ["s/a"]}]}, "list"]}',
    '{"$from": [{"$coalesce": [{"$from": ["$item"]},
      {"list": [{"id": 1}, {"id": 2}]}]}, "list"]}', 'where a path starts'),
  ('{"$from": [{"$from": ["$context", "k"], "$ne": 5}, "x"], "$default": {"$from": ["$item"]}}',
    '{"$from": [{"$value": false}, "x"], "$default": {"$from": ["$item"]}}',
    'which is an expression'),
  ('{"a": {"$from": ["$context", "text"]}}', '{"$value": {"a": "$from"}}',
    'data that looks like an expression'),
  ('{"f": {"$from": ["$files", "s", "0", "kind"]}, "g": {"$from": ["s/gone", "x"]}}',
    '{"f": "csv", "g": null}', 'files, and nodes that were let go'),
  ('[{"$value": {"$from": ["$item"]}}, {"$from": ["$item"]}]',
    '[{"$value": {"$from": ["$item"]}}, {"$from": ["$item"]}]', 'data is not looked into'),
  ('{"a": {"$from": ["s/a", "nowhere"]}, "k": {"$from": ["$context", "k"]}}',
    '{"a": {"$from": ["s/a", "nowhere"]}, "k": 5}', 'what leads nowhere stays'),
  ('{"$from": ["$item"], "$form": {"$from": ["$context", "k"]}}',
    '{"$from": ["$item"], "$form": {"$from": ["$context", "k"]}}', 'what is malformed stays')
  ) c (value, folded, description);

select * from finish();
rollback;
