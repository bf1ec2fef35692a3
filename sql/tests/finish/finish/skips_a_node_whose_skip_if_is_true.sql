-- 4 tests
select qwf_test.workflow('chain', '[
  {"id": "a"}, {"id": "b", "depends_on": ["a"], "skip_if": {"$from": "a.skip"}}, {"id": "c",
    "depends_on": ["b"]}]');
select qwf.enqueue_run('chain');
select qwf_test.attempt('s/a', output => '{"skip": true}');
select is(qwf_test.nodes(), 's/a completed, s/b skipped, s/c queued',
  'a skip is a satisfied dependency');
select is((select attempt from qwf.jobs where id = qwf_test.job('s/b')), 0, 'it never ran');
select qwf_test.attempt('s/c');
select is(qwf_test.run_state(), 'completed', 'the run completes');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
