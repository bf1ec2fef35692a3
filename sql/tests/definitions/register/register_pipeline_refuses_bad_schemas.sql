-- 19 tests
select results_eq(format('select qwf_test.problems(%L, %L)', 'pipeline', jsonb_build_object(
    'name', 'p', 'nodes', jsonb '[]', 'inputs', jsonb_build_object('properties',
      jsonb_build_object('x', c.schema)))),
  array['inputs.properties.x' || c.problem], c.schema::text)
from (values
  (jsonb '5', ': must be of type object, not number'),
  ('{"type": "strng"}',
    '.type: must be string, number, integer, boolean, object, array or null, or a list of these'),
  ('{"type": ["string", []]}',
    '.type: must be string, number, integer, boolean, object, array or null, or a list of these'),
  ('{"enum": []}', '.enum: must list at least one value'),
  ('{"pattern": "("}', '.pattern: is not a regular expression'),
  ('{"minLength": -1}', '.minLength: must be 0 to 1000000000'),
  ('{"minLength": 3, "maxLength": 2}', '.minLength: is larger than maxLength'),
  ('{"minimum": 3, "maximum": 2}', '.minimum: is larger than maximum'),
  ('{"minimum": "3"}', '.minimum: must be of type number, not string'),
  ('{"required": ["y"], "properties": {"z": {}}}', '.required[0]: is not among the properties'),
  ('{"required": [1]}', '.required[0]: must be of type string, not number'),
  ('{"properties_order": ["z", "y"], "properties": {"z": {}}}',
    '.properties_order[1]: is not among the properties'),
  ('{"items": []}', '.items: must be of type object, not array'),
  ('{"items": {"tpye": "string"}}', '.items.tpye: unknown key'),
  ('{"type": "string", "default": 5}', '.default: must be of type string, not number'),
  ('{"properties": {"y": {"maximum": 1, "default": 2}}}',
    '.properties.y.default: must be at most 1'),
  ('{"oneOf": [{}]}', '.oneOf: unknown key'),
  ('{"type": "string", "format": "email"}', '.format: unknown key'),
  ('{"additionalProperties": {}}', '.additionalProperties: must be of type boolean, not object')
) c (schema, problem);
