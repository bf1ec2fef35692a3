-- 4 tests
select qwf_test.edit('12:00:00');
select is(qwf_test.edit('11:00:00'), '2026-01-01 11:00:05Z', 'set back by an hour');
select is(qwf_test.edit('11:00:04'), '2026-01-01 11:00:09Z', 'and it goes on');
select is(qwf_test.edit('15:00:00'), null, 'set forward: its longest time is over');
select is((select count(*) from qwf.claim('default', 'w')), 1::bigint, 'it starts');
