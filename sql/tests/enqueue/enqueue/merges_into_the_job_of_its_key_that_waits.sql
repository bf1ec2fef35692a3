-- 5 tests
create temp table made as select qwf.enqueue('mail', '{"n": 1}', key => 'k') as id;
select results_eq($$ select qwf.enqueue('mail', '{"n": 2}', key => 'k') $$, 'select id from made',
  'while it is queued');
select results_eq($$ select qwf.enqueue('mail', '{"n": 3}', key => 'k', key_mode => 'keep') $$,
  'select id from made', 'keep is the default');
select results_eq('select count(*), min(inputs::text) from qwf.jobs', $$
  values (1::bigint, '{"n": 1}') $$, 'one job, as it was first given');
select results_eq(
  $$ select qwf.enqueue('mail', '{"n": 4}', key => 'k', priority => 7, labels => '{"a": 1}',
    key_mode => 'replace') $$, 'select id from made', 'replace answers with the same id');
select results_eq($$ select inputs::text, priority, labels::text, key_state::text from qwf.jobs $$,
  $$ values ('{"n": 4}', 7, '{"a": 1}', 'w') $$, 'and gives it what is new');
