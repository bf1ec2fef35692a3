select qwf_test.workflow('w', '[
  {"id": "a"}, {"id": "b", "depends_on": ["a"], "skip_if": true}, {"id": "c", "depends_on": ["a"],
    "skip_if": true},
  {"id": "d", "depends_on": ["b", "c"], "skip_if": true}, {"id": "e", "depends_on": ["d"]}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a');
select is(qwf_test.nodes(), 's/a completed, s/b skipped, s/c skipped, s/d skipped, s/e queued',
  'in one go');
