-- 2 tests
select qwf.enqueue('a');
select qwf_test.work('default');
select _qwf.roll_up_counts();
select qwf.enqueue('a');
select qwf_test.work('default');
select qwf_test.travel('10 years');
select qwf.prune();
select is((select count(*) from qwf.hourly_counts), 1::bigint, 'what was counted');
select is((select count(*) from qwf.attempt_counts), 1::bigint, 'what will be');
