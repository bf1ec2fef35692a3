-- 6 tests
select is(qwf_test.edit('12:00:00'), '2026-01-01 12:00:05Z', 'the first call');
select is(max(qwf_test.edit('12:00:' || s)), '2026-01-01 12:00:50Z',
  'by default ten times as long') from generate_series(10, 49, 3) s;
select is(qwf_test.edit('12:00:50'), null, 'then it starts, whoever calls');
select is((select count(*) from qwf.claim('default', 'w')), 1::bigint, 'at once');
select is(qwf_test.edit('12:01:00', '5 s', '7 s'), '2026-01-01 12:01:05Z', 'or as the caller says');
select is(qwf_test.edit('12:01:04', '5 s', '60 s'), '2026-01-01 12:01:07Z',
  'the first one, because its edit waits longest');
