begin;
select plan(22);

select is((select count(*)::int from _qwf.schema_problems(c.value, c.schema, 'v')), c.problems,
  format('%s under %s', c.value, c.schema))
from (values
  (jsonb '1', jsonb '{"type": "integer"}', 0),
  ('1.0', '{"type": "integer"}', 0),
  ('1.5', '{"type": "integer"}', 1),
  ('1.5', '{"type": "number"}', 0),
  ('1', '{"type": ["string", "null"]}', 1),
  ('null', '{"type": ["string", "null"]}', 0),
  ('null', '{"type": "string"}', 1),
  ('true', '{"type": "boolean"}', 0),
  ('1.0', '{"enum": [1, 2]}', 0),
  ('{"a": 1}', '{"enum": [{"a": 1}]}', 0),
  ('5', '{"minimum": 5, "maximum": 5}', 0),
  ('4.9', '{"minimum": 5}', 1),
  ('10', '{"maximum": 9}', 1),
  ('"9"', '{"maximum": 5}', 0),
  ('"é"', '{"minLength": 1, "maxLength": 1}', 0),
  ('""', '{"minLength": 1}', 1),
  ('"abc"', '{"maxLength": 2, "pattern": "^x"}', 2),
  ('"xyz"', '{"pattern": "^x"}', 0),
  ('[1, "a"]', '{"items": {"type": "integer"}}', 1),
  ('{"b": 1}', '{"properties": {"a": {}}, "additionalProperties": false}', 1),
  ('{"b": 1}', '{"properties": {"a": {}}}', 0),
  ('5', '{}', 0)) c (value, schema, problems);

select * from finish();
rollback;
