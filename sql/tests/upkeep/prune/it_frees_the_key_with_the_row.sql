-- 3 tests
create temp table made as select qwf.enqueue('mail', key => 'k', once => true) as id;
select qwf_test.work('default');
select qwf_test.travel('29 days');
select qwf.prune();
select is(qwf.enqueue('mail', key => 'k', once => true), (select id from made),
  'the key is taken for as long as the row is kept');
select qwf_test.travel('2 days');
select is((qwf.prune() ->> 'jobs')::int, 1, 'no longer');
select isnt(qwf.enqueue('mail', key => 'k', once => true), (select id from made),
  'then it is free');
