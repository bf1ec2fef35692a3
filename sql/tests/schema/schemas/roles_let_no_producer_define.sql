-- 3 tests
select throws_ok($$
  select qwf_test.as_role('qwf_producer', 'select qwf.register_pipeline(''{}'')')
$$, '42501', null, 'no pipeline');
select throws_ok($$
  select qwf_test.as_role('qwf_producer', 'select qwf.register_workflow(''{}'')')
$$, '42501', null, 'no workflow');
select throws_ok($$ select qwf_test.as_role('qwf_producer', 'select qwf.create_queue(''q'')') $$,
  '42501', null, 'no queue');
