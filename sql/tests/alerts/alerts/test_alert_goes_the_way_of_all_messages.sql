-- 4 tests
select qwf.set_alert('r', '{"when": ["lost"], "do": {"receiver": "ops"}}');
select qwf.set_alert('t', '{"when": ["lost"],
  "do": {"task": "x", "queue": "gpu", "args": {"a": 1}}}');
select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.set_alert('w', '{"when": ["lost"], "do": {"workflow": "w"}}');
select qwf.test_alert(name) from qwf.alerts order by name;
select results_eq($$ select task, queue, inputs -> 'a', inputs #>> '{alert,state}' from qwf.jobs
    where run_id is null order by id $$, $$
  values ('qwf.send', 'qwf.alerts', null::jsonb, null), ('x', 'gpu', '1', 'test') $$,
  'to a receiver, and to a task');
select results_eq($$ select context #>> '{alert,rule}', labels from qwf.runs $$,
  $$ values ('w', '{"qwf.alert": "w"}'::jsonb) $$, 'to a workflow, as its context');
select results_eq($$ select state, num_nonnulls(sent_job, sent_run) from qwf.alert_messages $$,
  $$ values ('test', 1), ('test', 1), ('test', 1) $$, 'each is on record');
select is_empty('select * from qwf.open_alerts', 'a test opens nothing');
