-- 2 tests
select qwf.pause_queue('gpu');
select lives_ok($$ select qwf_test.as_role('qwf_viewer', 'select * from qwf.audit') $$,
  'who may look may see who did what');
select throws_ok($$ select qwf_test.as_role('qwf_producer', 'select * from qwf.audit') $$, '42501',
  null, 'a producer may not');
