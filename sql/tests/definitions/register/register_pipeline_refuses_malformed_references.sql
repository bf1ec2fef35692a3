-- 17 tests
select results_eq(format('select qwf_test.node_problems(%L)',
    jsonb_build_object('depends_on', jsonb '["up"]', 'inputs', jsonb_build_object('x', c.value))),
  array['nodes[1].inputs.x' || c.problem], c.value::text)
from (values
  (jsonb '{"$from": "up."}', ': "$from" has an empty segment'),
  ('{"$from": 5}', ': "$from" is neither a text nor a list'),
  ('{"$from": []}', ': "$from" is an empty list'),
  ('{"$from": [["up"], "x"]}', ': "$from" holds something that is neither a name nor an integer'),
  ('{"$from": [{"$value": 1}]}', ': "$from" holds something that is neither a name nor an integer'),
  ('{"$from": "up.x", "$defalut": 1}', ': "$defalut" is not allowed beside "$from"'),
  ('{"$from": "up.x", "$eq": 1, "$ne": 2}', ': "$eq" and "$ne" exclude each other'),
  ('{"$eq": 1}', ': "$eq" is not an operator, or its operator is missing'),
  ('[{"a": {"$from": ""}}]', '[0].a: "$from" has an empty segment'),
  ('{"$coalesce": {"$from": "up"}}', ': "$coalesce" is not a list'),
  ('{"$coalesce": [{"$value": 1, "x": 1}]}', '.$coalesce[0]: "x" is not allowed beside "$value"'),
  ('{"$from": "up.l", "$filter": {"is:k": 1}}',
    ': "$filter" key "is:k" is neither "eq:<field>" nor "matches:<field>"'),
  ('{"$from": "up.l", "$filter": {"matches:k": "("}}',
    ': "$filter" key "matches:k" needs a regular expression'),
  ('{"$check": 1, "schema": {}, "input": ""}', ': "$check" is not an operator'),
  ('{"$from": "item"}', ': "item" cannot be read here'),
  ('{"$from": "files.x"}', ': "files" comes after a step or node')) c (value, problem);
select is_empty($$ select qwf_test.node_problems(
  '{"inputs": {"x": {"$value": {"$from": 5, "$eq": [{"$nonsense": 1}]}}}}') $$,
  'anything under $value is data');
