-- 2 tests
select setval('qwf.prune_job', 0);
select qwf.enqueue('a') from generate_series(1, 9);
select qwf.prune(3);
select is((select last_value from qwf.prune_job), 0::bigint, 'ids grow with time');
select qwf_test.travel('31 days');
select qwf.prune(3);
select isnt((select last_value from qwf.prune_job), 0::bigint, 'the old it has looked at');
