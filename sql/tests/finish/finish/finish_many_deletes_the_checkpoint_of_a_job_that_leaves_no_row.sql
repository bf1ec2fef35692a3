-- 2 tests
select qwf.create_queue('default', keep_completed => false);
select qwf.enqueue('a'), qwf.enqueue('b', max_attempts => 2);
select qwf_test.claim('default', 2);
select qwf.progress(j.id, j.token, checkpoint => '{"n": 1}') from qwf.jobs j;
select qwf_test.report('a'), qwf_test.report('b', 'error', error => 'boom');
select qwf_test.attempt('b');
select is_empty('select id from qwf.jobs', 'both have completed');
select is_empty('select * from qwf.checkpoints', 'nothing is left of them');
