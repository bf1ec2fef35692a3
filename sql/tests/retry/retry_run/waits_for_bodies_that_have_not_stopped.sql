-- 2 tests
-- A node that was locked when its run ended is still queued, with a stop event: not yet.
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b"}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', 'fatal', error => 'boom');
update qwf.jobs set status = 'queued', finished_at = null where node_id = 's/b';
insert into qwf.outbox (run_id, kind) values (qwf_test.run(), 'stop');
select throws_ok(format('select qwf.retry_run(%s)', qwf_test.run()), 'QW002', null, 'not yet');
select qwf.drain_outbox();
select is(qwf.retry_run(qwf_test.run()), 2, 'once it is stopped');
