-- 4 tests
-- An unresolvable reference fails the job in the claim itself.
select qwf.create_limit('api', 1);
select qwf_test.workflow('w', '[{"id": "a"},
  {"id": "b", "depends_on": ["a"], "limit_by": "api", "inputs": {"x": {"$from": "a.nothing"}}}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a');
select is(qwf_test.claim(), 'claimed nothing', 'it cannot start');
select is(qwf_test.state('s/b'), 'failed', 'it failed');
select is((select count(job_id) from qwf.limit_slots), 0::bigint, 'the slot is free');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
