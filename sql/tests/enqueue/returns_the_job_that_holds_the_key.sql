begin;
select plan(3);

create temp table made as select qwf.enqueue('mail', '{"n": 1}', key => 'k') as id;
select results_eq($$ select qwf.enqueue('mail', '{"n": 2}', key => 'k') $$, 'select id from made',
  'while it is queued');
select qwf_test.claim('default');
select results_eq($$ select qwf.enqueue('mail', key => 'k') $$, 'select id from made',
  'while it runs');
select results_eq('select count(*), min(inputs::text) from qwf.jobs', $$
  values (1::bigint, '{"n": 1}') $$,
  'one job, as it was first given');

select * from finish();
rollback;
