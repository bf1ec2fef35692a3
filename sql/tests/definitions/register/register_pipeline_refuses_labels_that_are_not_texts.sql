-- 5 tests
select results_eq(
  format('select qwf_test.node_problems(%L)', jsonb_build_object('requires', c.requires)),
  array['nodes[1].requires: label "zone" must be a text, not of type ' || c.problem],
  c.requires::text)
from (values
  (jsonb '{"zone": 5, "host": "box-a"}', 'number: write "5"'),
  ('{"zone": true}', 'boolean: write "true"'),
  ('{"zone": {"$from": "host"}}', 'object: references are not resolved here'),
  ('{"zone": ["a"]}', 'array'),
  ('{"zone": null}', 'null')) c (requires, problem);
