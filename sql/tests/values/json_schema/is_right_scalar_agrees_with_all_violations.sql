-- 3 tests
create temp table pair as
select v.value, s.schema, _qwf.is_right_scalar(v.value, s.schema) as quick,
  not exists (select from _qwf.violations(v.value, s.schema, 'v')) as fits
from jsonb_array_elements(
  '[null, true, 0, 1, 1.5, -1, "", "a", "abc", [], ["a"], {}, {"a": 1}]') v (value)
cross join jsonb_array_elements('[
  {}, {"type": "number"}, {"type": "integer"}, {"type": ["string", "null"]}, {"type": "array"},
  {"enum": [1, null]}, {"enum": ["a", [1], {"a": 1}]}, {"enum": [["a"], 1.0]},
  {"minimum": 1}, {"maximum": 1}, {"type": "number", "minimum": 0, "maximum": 1},
  {"minLength": 1}, {"maxLength": 1}, {"pattern": "^a"}, {"items": {"type": "number"}}
]') s (schema);
select is_empty('select * from pair where quick and not fits', 'what it lets pass is right');
select is_empty($$
  select * from pair
  where fits and not quick and jsonb_typeof(value) not in ('object', 'array')
    and not (jsonb_typeof(value) = 'string' and schema ?| '{minLength,maxLength,pattern}')
$$, 'it lets pass all but objects, lists and bounds of strings');
select is((select count(*) from _qwf.violations(
    '["a", 2, "b", 9]', '{"items": {"maximum": 3, "enum": ["a", 2, 9]}}', 'v')),
  2::bigint, 'the others are reported');
