-- 2 tests
select qwf.enqueue('mail');
select qwf_test.work('default');
select _qwf.roll_up_counts();
select qwf_test.travel('1 year');
select qwf.prune();
select is_empty('select * from qwf.jobs', 'the job is gone');
select is((select count from qwf.job_stats where task = 'mail'), 1::bigint, 'it still counts');
