-- 2 tests
select qwf_test.set_now('2040-01-01 10:00');
select qwf.report_metrics('a', '{"cpu_percent": 1}');
select qwf_test.travel('1 min');
select _qwf.record_minutes();
select qwf_test.set_now('2039-12-31 09:00');
select qwf.report_metrics('a', '{"cpu_percent": 2}');
select qwf_test.travel('1 min');
select ok(_qwf.record_minutes() > 0, 'the minutes before are due again');
select results_eq('select minute, cpu_percent from qwf.host_minutes order by 1', $$
  values ('2039-12-31 09:00'::timestamptz, 2::real), ('2040-01-01 10:00', 1) $$,
  'and what was written stays');
