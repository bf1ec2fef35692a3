begin;
select plan(19);

select results_eq(format('select qwf_test.step_problems(%L)', jsonb '{"kind": "input"}' || c.keys),
  array['steps[1].' || c.problem], c.keys::text)
from (values
  (jsonb '{"widget": "choose_one"}', 'options: is missing'),
  ('{"widget": "turnout", "options": []}', 'options: must hold at least one option'),
  ('{"widget": "choose_one", "options": 3}',
    'options: must be of type array or object, not number'),
  ('{"widget": "choose_one", "options": [1], "multiple": "yes"}',
    'multiple: must be of type boolean, not string'),
  ('{"widget": "confirm", "expires": "1 d"}', 'expires: is not yet supported'),
  ('{"widget": "confirm", "default": null}', 'default: is not yet supported'),
  ('{"widget": "confirm", "target": "a.b"}', 'target: must be a name: letters, digits and _'),
  ('{"widget": "confirm", "target": "files"}', 'target: "files" is reserved'),
  ('{"widget": "confirm", "promt": "x"}', 'promt: unknown key'),
  ('{"widget": "confirm", "schema": {"type": "bool"}}',
    'schema.type: must be string, number, integer, boolean, object, array or null, '
      'or a list of these'),
  ('{"widget": "text", "pattern": "("}', 'pattern: is not a regular expression'),
  ('{"widget": "text", "min_length": 5, "max_length": 4}', 'min_length: is larger than max_length'),
  ('{"widget": "number", "min": 5, "max": 4}', 'min: is larger than max'),
  ('{"widget": "number", "step": 0}', 'step: must be positive'),
  ('{"widget": "file", "accept": 5}', 'accept: must be of type string or array, not number'),
  ('{"widget": "paint", "inputs": {}}', 'inputs: unknown key'),
  ('{"widget": "paint", "$value": 1}', '$value: unknown key'),
  ('{"widget": "paint", "layers": {"$from": ""}}', 'layers: "$from" has an empty segment'),
  ('{"widget": ""}', 'widget: must not be empty')) c (keys, problem);

select * from finish();
rollback;
