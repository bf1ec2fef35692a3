-- 4 tests
select qwf.create_limit('api', 1);
select qwf_test.workflow('w', '[{"id": "a", "limit_by": "api"}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', 'fatal');
delete from qwf.limits;  -- as drop_limit leaves it if the pipeline is registered at the same moment
select throws_ok($$ select qwf.enqueue_run('w') $$, 'QW001', 'no such limit', 'a new run');
select throws_ok($$ select qwf.retry_run(qwf_test.run()) $$, 'QW001', 'no such limit', 'a retry');
select qwf.create_limit('api', 1);
select lives_ok($$ select qwf.retry_run(qwf_test.run()) $$, 'it is there again');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
