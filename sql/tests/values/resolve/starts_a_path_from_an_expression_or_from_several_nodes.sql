-- 4 tests
select is((_qwf.resolve('{"a": {"$from": [{"$coalesce": [null, {"$from": ["n"]}]}, "k"]}}',
  '{"n": {"k": 1}}')).value, '{"a": 1}', 'the path leads into the value of an expression');
select is((_qwf.resolve('{"a": {"$from": [["s/x", "s/y"], "k"]}}',
  '{"s/x": {"j": 0}, "s/y": {"k": 2}}')).value, '{"a": 2}', 'the first node that has the key');
select is((_qwf.resolve('{"$from": [{"$from": ["gone"]}, "k"], "$default": 3}', '{}')).value, '3',
  'the default also replaces an unresolvable expression');
select is((_qwf.resolve('{"a": {"$from": ["$context", "who"]}, "f": {"$from": ["$files", "s",
  "0"]}}',
  '{"$context": {"who": "Ada"}, "$files": {"s": [{"rel_path": "x"}]}}')).value,
  '{"a": "Ada", "f": {"rel_path": "x"}}', 'context and files are keys of the scope');
