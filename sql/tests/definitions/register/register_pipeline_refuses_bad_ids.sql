-- 11 tests
select results_eq(
  format('select qwf_test.problems(%L, %L)', 'pipeline',
    jsonb_build_object('name', 'p', 'nodes', jsonb_build_array(c.node))),
  array[c.problem], c.node::text)
from (values
  (jsonb '{"id": "A"}', 'nodes[0].id: "A" is not a valid id'),
  ('{"id": "a/b"}', 'nodes[0].id: "a/b" is not a valid id'),
  ('{"id": "a.b"}', 'nodes[0].id: "a.b" is not a valid id'),
  ('{"id": "1a"}', 'nodes[0].id: "1a" is not a valid id'),
  ('{"id": ""}', 'nodes[0].id: "" is not a valid id'),
  ('{"id": "pipeline"}', 'nodes[0].id: "pipeline" is reserved'),
  ('{"id": "item"}', 'nodes[0].id: "item" is reserved'),
  ('{"id": "index"}', 'nodes[0].id: "index" is reserved'),
  ('{"id": "files"}', 'nodes[0].id: "files" is reserved'),
  ('{"id": 5}', 'nodes[0].id: must be of type string, not number'),
  ('{}', 'nodes[0].id: is missing')) c (node, problem);
