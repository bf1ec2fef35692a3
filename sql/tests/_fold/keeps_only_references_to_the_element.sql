begin;
select plan(14);

select is(_qwf.fold(c.value, '{"$context": {"k": 5, "text": "$from"},
    "s/a": {"list": [{"id": 1}, {"id": 2}]}, "s/gone": null, "$files": {"s": [{"kind": "csv"}]}}'),
  c.folded, c.description)
from (values
  (jsonb '{"a": [1, {"b": null}]}', jsonb '{"a": [1, {"b": null}]}', 'plain data stays'),
  ('{"k": {"$from": ["$context", "k"]}, "n": 1}', '{"k": 5, "n": 1}',
    'a reference to anything else becomes its value'),
  ('{"i": {"$from": ["$item", "x"]}, "n": {"$from": ["$index"]}}',
    '{"i": {"$from": ["$item", "x"]}, "n": {"$from": ["$index"]}}', 'what reads the element stays'),
  ('{"i": {"$from": ["$item"]}, "k": {"$from": ["$context", "k"]}, "l": [3]}',
    '{"i": {"$from": ["$item"]}, "k": 5, "l": [3]}', 'both in one object'),
  ('[{"$from": ["s/a", "list"], "$filter": {"eq:id": {"$from": ["$item", "id"]}}}]',
    '[{"$from": [{"$value": [{"id": 1}, {"id": 2}]}],
      "$filter": {"eq:id": {"$from": ["$item", "id"]}}}]', 'a list filtered by the element'),
  ('{"$from": ["$item", "x"], "$default": {"$from": ["$context", "k"]}}',
    '{"$from": ["$item", "x"], "$default": 5}', 'the default of a reference to the element'),
  ('{"$coalesce": [{"$from": ["s/b"]}, {"$from": ["$item"]}, {"$from": ["$context", "k"]}]}',
    '{"$coalesce": [{"$from": ["s/b"]}, {"$from": ["$item"]}, 5]}', 'candidates of a $coalesce'),
  ('{"$from": [{"$coalesce": [{"$from": ["$item"]}, {"$from": ["s/a"]}]}, "list"]}',
    '{"$from": [{"$coalesce": [{"$from": ["$item"]},
      {"list": [{"id": 1}, {"id": 2}]}]}, "list"]}', 'an expression that a path starts from'),
  ('{"$from": [{"$from": ["$context", "k"], "$ne": 5}, "x"], "$default": {"$from": ["$item"]}}',
    '{"$from": [{"$value": false}, "x"], "$default": {"$from": ["$item"]}}',
    'even if it is false'),
  ('{"a": {"$from": ["$context", "text"]}}', '{"$value": {"a": "$from"}}',
    'data that looks like an expression'),
  ('{"f": {"$from": ["$files", "s", "0", "kind"]}, "g": {"$from": ["s/gone", "x"]}}',
    '{"f": "csv", "g": null}', 'files, and failed nodes'),
  ('[{"$value": {"$from": ["$item"]}}, {"$from": ["$item"]}]',
    '[{"$value": {"$from": ["$item"]}}, {"$from": ["$item"]}]', 'data is not searched'),
  ('{"a": {"$from": ["s/a", "nowhere"]}, "k": {"$from": ["$context", "k"]}}',
    '{"a": {"$from": ["s/a", "nowhere"]}, "k": 5}', 'an unresolvable reference stays'),
  ('{"$from": ["$item"], "$form": {"$from": ["$context", "k"]}}',
    '{"$from": ["$item"], "$form": {"$from": ["$context", "k"]}}', 'a malformed expression stays')
  ) c (value, folded, description);

select * from finish();
rollback;
