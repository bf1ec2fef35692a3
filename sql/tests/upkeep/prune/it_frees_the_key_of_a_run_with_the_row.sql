-- 3 tests
select qwf_test.workflow('w', '[{"id": "a"}]');
create temp table made as select qwf.enqueue_run('w', key => 'k', once => true) as id;
select qwf_test.work();
select qwf_test.travel('29 days');
select qwf.prune();
select is(qwf.enqueue_run('w', key => 'k', once => true), (select id from made),
  'the key is taken for as long as the row is kept');
select qwf_test.travel('2 days');
select is((qwf.prune() ->> 'runs')::int, 1, 'no longer');
select isnt(qwf.enqueue_run('w', key => 'k', once => true), (select id from made),
  'then it is free');
