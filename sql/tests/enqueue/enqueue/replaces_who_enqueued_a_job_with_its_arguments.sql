-- 2 tests
-- Else who replaces the arguments would act under the name of another.
select set_config('qwf.acting_for', 'ada', true);
select qwf.enqueue('t', '{"n": 1}', key => 'k');
select set_config('qwf.acting_for', 'bob', true);
select qwf.enqueue('t', '{"n": 2}', key => 'k');
select is(acting_for, 'ada', 'a job that is kept stays with who enqueued it') from qwf.jobs;
select qwf.enqueue('t', '{"n": 3}', key => 'k', key_mode => 'replace');
select results_eq('select inputs, login, acting_for from qwf.jobs',
  $$ values ('{"n": 3}'::jsonb, qwf_test.login(), 'bob') $$,
  'one that is replaced has the login of who did it');
