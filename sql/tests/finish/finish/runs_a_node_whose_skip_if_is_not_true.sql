select qwf_test.workflow('pair', '[
  {"id": "a"}, {"id": "b", "depends_on": ["a"], "skip_if": {"$from": "a.choice", "$eq": "none"}}]');
select qwf.enqueue_run('pair');
select qwf_test.attempt('s/a', output => '{"choice": "some"}');
select is(qwf_test.nodes(), 's/a completed, s/b queued', 'the reference compares');
