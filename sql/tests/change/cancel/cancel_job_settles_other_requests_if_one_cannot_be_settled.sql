-- 2 tests
-- Asked for while they ran; given back before anybody heard of it.
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
select qwf.enqueue('mail');
select qwf_test.jam('s/b', true);
insert into qwf.cancel_requests (job_id)
select j from unnest(array[qwf_test.job('s/a'), qwf_test.job('mail')]) j;
select is(qwf.tick() -> 'errors', null, 'a tick takes it calmly');
select is(qwf_test.state('mail'), 'cancelled', 'the other job is cancelled');
