-- 5 tests
select qwf.enqueue(t, labels => '{"person": "42"}') from unnest('{a,b,c}'::text[]) t;
select qwf_test.claim('default', 1);
select qwf_test.report('a', 'fatal');
select throws_ok($$ select qwf.erase('{"label": {"person": "42"}}') $$, 'QW002',
  '2 jobs have not ended', 'nothing is erased');
select throws_ok($$ select qwf.erase('{"label": {"person": "42"}}', dry_run => true) $$, 'QW002',
  '2 jobs have not ended', 'and a dry run says so, too');
select qwf.cancel_job(qwf_test.job('b'));
select throws_ok($$ select qwf.erase('{"label": {"person": "42"}}') $$, 'QW002',
  '1 job has not ended');
select qwf.cancel_job(qwf_test.job('c'));
select is((select count(*)::int from qwf.erase('{"label": {"person": "42"}}')), 3,
  'then it erases');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
