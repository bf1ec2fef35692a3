begin;
select plan(27);

select results_eq(format('select qwf_test.step_problems(%L)', jsonb '{"kind": "input"}' || c.keys),
  array['steps[1].' || c.problem], c.keys::text)
from (values
  (jsonb '{"widget": "choose_one"}', 'options: is missing'),
  ('{"widget": "turnout", "options": []}', 'options: must have at least one option'),
  ('{"widget": "choose_one", "options": 3}',
    'options: must be of type array or object, not number'),
  ('{"widget": "choose_one", "options": [1], "multiple": "yes"}',
    'multiple: must be of type boolean, not string'),
  ('{"widget": "confirm", "expires": "later"}', 'expires: must be a duration of at most a year'),
  ('{"widget": "confirm", "default": null}', 'default: needs "expires"'),
  ('{"widget": "on_failure"}', 'widget: is reserved for failed nodes'),
  ('{"widget": "confirm", "map": [1]}', 'map: belongs to a node of a pipeline'),
  ('{"widget": "paint", "map": [1]}', 'map: belongs to a node of a pipeline'),
  ('{"widget": "paint", "max_parallel": 1}', 'max_parallel: belongs to a node of a pipeline'),
  ('{"widget": "paint", "min_success": 1}', 'min_success: belongs to a node of a pipeline'),
  ('{"widget": "paint", "run_if": "all_done"}', 'run_if: belongs to a node of a pipeline'),
  ('{"widget": "paint", "on_failure": "ask"}', 'on_failure: belongs to a node of a pipeline'),
  ('{"widget": "paint", "limit_by": "api"}', 'limit_by: belongs to a node of a pipeline'),
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
