-- 4 tests
select qwf.enqueue('a', '{"to": "anna"}');
select qwf_test.claim('default', 1);
select qwf_test.report('a', 'fatal');
select qwf.erase(format('{"ids": [%s]}', qwf_test.job('a'))::jsonb);
select throws_ok(format('select qwf.retry_job(%s)', qwf_test.job('a')), 'QW002', 'erased');
select throws_ok(format('select qwf.retry_job(%s, %L)', qwf_test.job('a'), '{"to": "eve"}'),
  'QW002', 'erased', 'also with other arguments: its labels and key are gone');
select results_eq(
  format('select verdict, message from qwf.retry_jobs(array[%s])', qwf_test.job('a')),
  $$ values ('refused', 'erased') $$, 'in a list, too');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
