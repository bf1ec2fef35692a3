-- 4 tests
select qwf_test.set_now('2026-01-01 12:00Z');
select qwf.enqueue('index', key => 'k', run_at => '2026-01-01 12:00:20Z');
select is(qwf_test.edit('12:00:01', '5 s'), '2026-01-01 12:00:06Z', 'sooner');
select is(qwf_test.edit('12:00:05', '5 s'), '2026-01-01 12:00:10Z', 'put off');
select is(qwf_test.edit('12:00:09', '15 s'), '2026-01-01 12:00:20Z', 'not beyond that time');
select is((select count(*) from qwf.jobs), 1::bigint, 'one job');
