-- 2 tests
create temp table made as select qwf.enqueue('mail', key => 'k', once => true) as id;
select qwf_test.attempt('mail');
select results_eq($$ select qwf.enqueue('mail', key => 'k') $$, 'select id from made',
  'it ended, and has the key still');
select results_eq($$ select qwf.enqueue('mail', key => 'k', once => true) $$, 'select id from made',
  'for everybody');
