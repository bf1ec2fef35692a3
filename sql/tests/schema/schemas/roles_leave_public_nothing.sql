-- 3 tests
create role qwf_test_stranger;
select throws_ok($$ select qwf_test.as_role('qwf_test_stranger', 'select qwf.version()') $$,
  '42501', null, 'no function');
select throws_ok($$ select qwf_test.as_role('qwf_test_stranger', 'select * from qwf.jobs') $$,
  '42501', null, 'no table');
select throws_ok($$ select qwf_test.as_role('qwf_test_stranger',
  'select * from qwf.run_overview') $$, '42501', null,
  'no view');
