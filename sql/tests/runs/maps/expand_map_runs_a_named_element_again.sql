-- 2 tests
select qwf_test.workflow('w', '[{"id": "each", "map": {"$value": [1, 2]}}]');
select qwf.enqueue_run('w');
select qwf_test.work();
select qwf.retry_job(qwf_test.job('s/each[1]'));
select is(qwf_test.nodes(), 's/each blocked, s/each[0] completed, s/each[1] queued', 'that one');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
