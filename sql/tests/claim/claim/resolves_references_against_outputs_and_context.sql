-- 3 tests
select qwf_test.workflow('pair', '[
  {"id": "a"},
  {"id": "b", "depends_on": ["a"], "inputs": {
    "path": {"$from": "a.file"}, "deep": [{"who": {"$from": "who"}}], "gone": {"$from": "a.nothing",
      "$default": 7}, "n": 1}}]');
select qwf.enqueue_run('pair', '{"who": "ada"}');
select qwf_test.attempt('s/a', output => '{"file": "x.png"}');
select is((select inputs from qwf.claim('cpu', 'w')),
  '{"path": "x.png", "deep": [{"who": "ada"}], "gone": 7, "n": 1}',
  'at any depth, with defaults; literals stay');
select is((select resolved_inputs from qwf.jobs where id = qwf_test.job('s/b')),
  '{"path": "x.png", "deep": [{"who": "ada"}], "gone": 7, "n": 1}',
    'what was handed out can be looked up');
select is((select inputs -> 'path' from qwf.jobs where id = qwf_test.job('s/b')),
  '{"$from": ["s/a", "file"]}',
  'beside what was asked for');
