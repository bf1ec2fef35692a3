-- 3 tests
select qwf.enqueue('waiting');
update qwf.queues set paused = true where name = 'default';
select is(qwf_test.claim('default'), 'claimed nothing', 'paused');
select is(qwf_test.state('waiting'), 'queued', 'the job waits');
update qwf.queues set paused = false where name = 'default';
select is(qwf_test.claim('default'), 'claimed waiting', 'resumed');
