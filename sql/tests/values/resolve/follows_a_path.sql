-- 8 tests
select is(qwf.resolve(jsonb_build_object('$from', c.path),
    '{"a": {"b": [10, {"c": null}], "x.y": 5}, "s/n": {"k": 1}, "0": 7}'), c.expected, c.path::text)
from (values
  (jsonb '"a.b.0"', jsonb '10'),
  ('"a.b.-2"', '10'),
  ('["a", "b", 0]', '10'),
  ('["a", "x.y"]', '5'),
  ('"a.b.1.c"', 'null'),
  ('"s/n.k"', '1'),
  ('[0]', '7'),
  ('"a.b.1"', '{"c": null}')) c (path, expected);
