-- 2 tests
select is(_qwf.with_defaults(
    '{"a": null, "list": [{}, {"k": 2}], "deep": {}}',
    '{"properties": {
      "a": {"default": 1}, "b": {"default": 2}, "c": {},
      "list": {"items": {"properties": {"k": {"default": 1}}}},
      "deep": {"properties": {"x": {"default": {}, "properties": {"y": {"default": 3}}}}}}}'),
  '{"a": null, "b": 2, "list": [{"k": 1}, {"k": 2}], "deep": {"x": {"y": 3}}}',
  'missing members get their defaults; existing ones do not change');
select is(_qwf.with_defaults('5', '{"properties": {"a": {"default": 1}}}'), '5',
  'a value that is not an object does not change');
