-- 2 tests
select qwf_test.workflow('one', '[{"id": "a"}]');
select qwf.enqueue_run('one', key => 'k'), qwf_test.attempt('s/a');
select qwf.enqueue_run('one', key => 'k');
select is((select count(*) from qwf.runs), 2::bigint, 'completed');
select qwf.cancel_run(qwf_test.run());
select qwf.enqueue_run('one', key => 'k');
select is((select count(*) from qwf.runs), 3::bigint, 'cancelled');
