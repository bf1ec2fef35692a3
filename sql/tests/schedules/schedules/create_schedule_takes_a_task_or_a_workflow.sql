-- 8 tests
select throws_ok($$ select qwf.create_schedule('x', cron => '@daily') $$, 'QW005',
  'invalid schedule', 'neither');
select throws_ok($$ select qwf.create_schedule('x', 't', 'w', cron => '@daily') $$, 'QW005',
  'invalid schedule', 'both');
select throws_ok($$ select qwf.create_schedule('x', 'two words', cron => '@daily') $$, 'QW005',
  'invalid schedule', 'an invalid task name');
select throws_ok($$ select qwf.create_schedule('x', workflow => 'w', cron => '@daily') $$, 'QW005',
  'invalid schedule', 'an unknown workflow');
select qwf_test.workflow('w', '[{"id": "a"}]');
select lives_ok($$ select qwf.create_schedule('x', workflow => 'w', cron => '@daily') $$,
  'a workflow');
select lives_ok($$ select qwf.create_schedule('x', workflow => 'w@1', cron => '@daily') $$,
  'a version of it');
select lives_ok($$ select qwf.create_schedule('x', 't', cron => '@daily') $$, 'a task');
select results_eq('select task, workflow, queue from qwf.schedules',
  $$ values ('t', null, 'default') $$, 'which replaces the workflow');
