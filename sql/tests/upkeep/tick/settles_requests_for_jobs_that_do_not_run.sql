-- 7 tests
-- As when the request was committed while the job was being given back.
select qwf_test.workflow('pair', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('pair'), qwf.enqueue('waiting'), qwf.enqueue('done');
select qwf_test.attempt('waiting', 'released');
select qwf_test.attempt('waiting'), qwf_test.attempt('done', 'released');
insert into qwf.cancel_requests (job_id)
select id from qwf.jobs where node_id is distinct from 's/b';
select is(qwf.tick() -> 'cancelled', '3', 'three requests');
select is(qwf_test.state('done'), 'cancelled', 'a waiting job is cancelled');
select is(qwf_test.state('waiting'), 'completed', 'one that ended stays as it is');
select is(qwf_test.nodes(), 's/a cancelled, s/b cancelled', 'with a node goes its run');
select is(qwf_test.run_state(), 'cancelled', 'which says so');
select is_empty('select * from qwf.cancel_requests', 'no request is kept');
select is_empty('select * from qwf.check_invariants()', 'the books are in order');
