-- 11 tests
-- Some patterns take years. Those of a definition are its author's business; the others come from
-- the person who fills the context.
select matches(
  (_qwf.resolve(
    '{"$from": ["rows"], "$filter": {"matches:name": {"$from": ["q"]}}}',
    jsonb_build_object('rows', '[{"name": "aa"}]'::jsonb, 'q', q.pattern))).error,
  '^invalid: "[$]filter" key "matches:name": a pattern from a reference may have at most 200 ',
  q.what)
from (values
  (E'^(a)\\1$', 'a back reference'), ('(?=a)', 'a look-ahead'), ('(?!b)', 'one that is negative'),
  ('(?<=a)a', 'a look-behind'), ('(?<!b)a', 'one that is negative'), ('a{2}', 'a count'),
  (repeat('a?', 101), 'a long one')) q (pattern, what);
select is(
  qwf.resolve('{"$from": "rows", "$filter": {"matches:name": {"$from": "q"}}}', jsonb_build_object(
    'rows', '[{"name": "Aa"}, {"name": "b"}]'::jsonb, 'q', '(?i)^a(?:a|b)?$')),
  '[{"name": "Aa"}]', 'a plain pattern is taken');
select is(
  qwf.resolve(jsonb_build_object('$from', 'rows', '$filter', jsonb_build_object('matches:name',
    E'^(a)\\1{1}$')), '{"rows": [{"name": "aa"}]}'),
  '[{"name": "aa"}]', 'a pattern that is written down may have everything');
select is(
  _qwf.fold('{"$from": ["rows"], "$filter": {"matches:x": {"$from": ["q"]}, "eq:y": {"$from":
    ["$item"]}, "eq:z": "c"}}', '{"rows": [], "q": "a{2}"}') -> '$filter',
  '{"matches:x": {"$value": "a{2}"}, "eq:y": {"$from": ["$item"]}, "eq:z": "c"}',
  'the elements of a map get it as data, too');
select matches(
  (_qwf.resolve(_qwf.fold('{"$from": ["rows"], "$filter": {"matches:x": {"$from": ["q"]},
    "eq:y": {"$from": ["$item"]}}}', '{"rows": [], "q": "a{2}"}'), '{"$item": 1}')).error,
  'a pattern from a reference', 'and refuse it');
