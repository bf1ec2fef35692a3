-- 2 tests
select setval('qwf.next_roll_up', 0);
select qwf.enqueue('a');
select qwf_test.work('default');
select is((qwf.tick() ->> 'rolled_up')::int, 1, 'the row of one call of finish_many');
select is((select count from qwf.job_stats where task = 'a'), 1::bigint, 'can be read now');
