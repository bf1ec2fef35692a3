-- 5 tests
select qwf_test.workflow('one', '[{"id": "a"}]');
create temp table made as select qwf.enqueue_run('one', '{"n": 1}', key => 'k') as id;
select results_eq($$ select qwf.enqueue_run('one', '{"n": 2}', key => 'k') $$,
  'select id from made', 'while it is queued');
select qwf_test.claim();
select results_eq($$ select qwf.enqueue_run('one', key => 'k') $$, 'select id from made',
  'while it runs');
select results_eq($$ select qwf.enqueue_run('one@1', key => 'k') $$, 'select id from made',
  'whatever the version');
select results_eq('select count(*), min(context::text) from qwf.runs', $$
  values (1::bigint, '{"n": 1}') $$,
  'one run, as it was first given');
select is((select count(*) from qwf.jobs), 1::bigint, 'with its nodes alone');
