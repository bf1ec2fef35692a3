-- 3 tests
select qwf.enqueue('a');
select is(qwf.cancel_job(qwf_test.job('a')), 'cancelled', 'once');
select is(qwf.cancel_job(qwf_test.job('a')), 'cancelled', 'twice is no error');
select is((select count(*) from _qwf.event_log), 1::bigint, 'and no event');
