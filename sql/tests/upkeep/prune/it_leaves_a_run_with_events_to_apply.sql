-- 3 tests
select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.enqueue_run('w');
select qwf_test.work();
insert into qwf.outbox (run_id, kind) values (qwf_test.run(), 'stop');
select qwf_test.travel('31 days');
select is((qwf.prune() ->> 'runs')::int, 0, 'somebody still has to apply it');
select isnt_empty('select * from qwf.outbox', 'it is not lost');
select qwf.drain_outbox();
select is((qwf.prune() ->> 'runs')::int, 1, 'then the run may go');
