begin;
select plan(31);

select results_eq(format('select qwf_test.node_problems(%L)', c.keys),
  array['nodes[1].' || c.problem],
  c.keys::text)
from (values
  (jsonb '{"on_failure": "explode"}', 'on_failure: must be "fail"'),
  ('{"gpu": "yes"}', 'gpu: must be of type boolean, not string'),
  ('{"model": "m"}', 'model: needs a queue with a GPU'),
  ('{"vram_mb": 5}', 'vram_mb: needs a queue with a GPU'),
  ('{"vram_mb": -1, "gpu": true}', 'vram_mb: must be MiB, 0 to 10000000'),
  ('{"vram_mb": 1.5, "gpu": true}', 'vram_mb: must be of type integer, not number'),
  ('{"light": true}', 'light: needs "gpu": true'),
  ('{"requires": []}', 'requires: must be of type object, not array'),
  ('{"timeout": "-1 s"}', 'timeout: must be a duration, at most a year'),
  ('{"timeout": 0}', 'timeout: must be a duration, at most a year'),
  ('{"timeout": "infinity"}', 'timeout: must be a duration, at most a year'),
  ('{"timeout": {}}', 'timeout: must be a duration, at most a year'),
  ('{"stall_timeout": "10 years"}', 'stall_timeout: must be a duration, at most a year'),
  ('{"retry": {"max_attempts": 0}}', 'retry.max_attempts: must be 1 to 10000'),
  ('{"retry": {"max_attempts": 2.5}}', 'retry.max_attempts: must be of type integer, not number'),
  ('{"retry": {"tries": 2}}', 'retry.tries: unknown key'),
  ('{"retry": {"backoff": []}}', 'retry.backoff: is not a backoff'),
  ('{"retry": {"backoff": ["1"]}}', 'retry.backoff: is not a backoff'),
  ('{"retry": {"backoff": {"factor": 2}}}', 'retry.backoff: is not a backoff'),
  ('{"retry": 3}', 'retry: must be of type object, not number'),
  ('{"node": "a b"}', 'node: must be 1 to 200 characters without blanks'),
  ('{"command": []}', 'command: must name a program'),
  ('{"command": ["x", null]}', 'command: must hold texts, numbers and references'),
  ('{"command": ["x"], "node": "n"}', 'command: cannot stand beside "node"'),
  ('{"command": ["x"], "inputs": {"command": 1}}',
    'inputs.command: is taken by the command itself'),
  ('{"skip_if": {"a": 1}}', 'skip_if: is neither true, false nor an expression'),
  ('{"skip_if": "yes"}', 'skip_if: is neither true, false nor an expression'),
  ('{"inputs": {"$value": {}}}', 'inputs: is an expression: inputs are given one by one'),
  ('{"depends_on": "up"}', 'depends_on: must be of type array, not string'),
  ('{"depends_on": [1]}', 'depends_on[0]: must be a string'),
  ('{"depends_on": ["up/x"]}', 'depends_on[0]: there is no "up/x"')) c (keys, problem);

select * from finish();
rollback;
