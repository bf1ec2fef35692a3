select set_eq($$ select qwf_test.problems('pipeline', '{"name": "p", "nodes": [
  {"id": "self", "depends_on": ["self"]},
  {"id": "a", "depends_on": ["c"]}, {"id": "b", "depends_on": ["a"]}, {"id": "c",
    "depends_on": ["b"]},
  {"id": "behind", "depends_on": ["c"]}, {"id": "free"}]}') $$, array[
  'nodes: cycle: self -> self', 'nodes: cycle: a -> b -> c -> a'],
  'but not the nodes that only depend on it');
