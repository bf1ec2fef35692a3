-- 6 tests
select throws_ok($$ select qwf_test.as_role('qwf_worker', 'select qwf.enqueue(''a'')') $$, '42501',
  null, 'no job');
select throws_ok($$ select qwf_test.as_role('qwf_worker', 'select qwf.enqueue_many(''[]'')') $$,
  '42501', null, 'no jobs');
select throws_ok($$ select qwf_test.as_role('qwf_worker', 'select qwf.enqueue_run(''w'')') $$,
  '42501', null, 'no run');
select throws_ok($$
  select qwf_test.as_role('qwf_worker', 'select qwf.register_pipeline(''{}'')')
$$, '42501', null, 'no definition');
select throws_ok($$ select qwf_test.as_role('qwf_worker',
  'select qwf.submit_input(1, ''a'', ''1'')') $$, '42501', null,
  'no answer');
select throws_ok($$ select qwf_test.as_role('qwf_worker', 'select * from qwf.jobs') $$, '42501',
  null,
  'and it reads no table: it calls functions');
