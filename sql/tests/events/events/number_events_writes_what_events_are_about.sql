-- 5 tests
select qwf_test.workflow('w', '[{"id": "a", "queue": "cpu"}]');
select qwf.enqueue_run('w', project => 'p');
select qwf.enqueue('mail', queue => 'cpu');
delete from _qwf.event_log;
insert into _qwf.event_log (run_id, job_id, kind, subject, names) values
  (qwf_test.run(), null, 'retried', null, null),
  (qwf_test.run(), qwf_test.job('s/a'), 'lost', null, null),
  (null, qwf_test.job('mail'), 'fired', 'nightly', '{"schedule": "nightly", "queue": "own"}'),
  (null, -1, 'lost', null, null),
  (null, null, 'worker_off', 'box', '{"host": "box"}');
select is_empty('select * from qwf.events', 'an event without a number is not shown');
select _qwf.number_events();
select results_eq($$ select seq, kind, subject, names from qwf.events order by seq limit 2 $$, $$
  values (1::bigint, 'retried', 'w', '{"project": "p", "workflow": "w"}'::jsonb),
    (2, 'lost', 'a',
      '{"project": "p", "workflow": "w", "node": "s/a", "task": "a", "queue": "cpu"}') $$,
  'of a run its workflow, of a job its task');
select results_eq($$ select subject, names from qwf.events where seq = 3 $$, $$
  values ('nightly', '{"task": "mail", "queue": "own", "schedule": "nightly"}'::jsonb) $$,
  'what the writer has given stays');
select results_eq($$ select subject, names from qwf.events where seq = 4 $$,
  $$ values (null::text, null::jsonb) $$, 'of a job that is gone nothing is known');
select results_eq($$ select subject, names from qwf.events where seq = 5 $$,
  $$ values ('box', '{"host": "box"}'::jsonb) $$, 'and some are about no job');
