select results_eq($$ select qwf_test.node_problems('{"inputs": [
  {"name": "a", "from": "x.y"}, {"name": "a", "from": "x.y"}, {"from": "x"}, {"name": "b"}, 5,
  {"name": "c", "from": 3}, {"name": "d", "from": "x", "form": 1}]}') $$, array[
  'nodes[1].inputs[2].name: is missing',
  'nodes[1].inputs[3].from: is missing',
  'nodes[1].inputs[4]: must be an object with "name" and "from"',
  'nodes[1].inputs[5].from: must be of type string, not number',
  'nodes[1].inputs[6].form: unknown key',
  'nodes[1].inputs[1].name: "a" is given twice'], 'and refuses malformed ones');
