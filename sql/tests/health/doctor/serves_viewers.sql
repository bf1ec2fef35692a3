-- 2 tests
set local role qwf_viewer;
select is_empty($$select * from qwf.doctor() d where d.level = 'unchecked'$$,
  'a viewer can make every check');
set local role qwf_producer;
select throws_ok('select * from qwf.doctor()', '42501', null, 'a producer none');
