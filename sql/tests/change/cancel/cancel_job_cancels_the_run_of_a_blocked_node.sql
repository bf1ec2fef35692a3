-- 3 tests
select qwf_test.workflow('pair', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('pair');
select is(qwf.cancel_job(qwf_test.job('s/b')), 'cancelled', 'its turn has not come');
select is(qwf_test.nodes(), 's/a cancelled, s/b cancelled', 'without it the run is nothing');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
