-- 5 tests
create function pg_temp.ends() returns setof jsonb language sql as $$
  select e.detail from _qwf.event_log e where e.kind = 'run_ended' order by e.id $$;

select qwf_test.set_now('2030-01-01');
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
select qwf_test.travel('1 h'), qwf_test.claim(), qwf_test.travel('90.5 s');
select qwf_test.report('s/a', 'fatal', error => E'boom\nand more');
select results_eq('select pg_temp.ends()', $$ values
  ('{"status": "failed", "seconds": 90.5, "node": "s/a", "error": "s/a failed: boom"}'::jsonb) $$,
  'the node that failed, and its error');
select qwf.retry_run(qwf_test.run()), qwf_test.travel('3 h'), qwf_test.claim();
select qwf_test.travel('2 s'), qwf_test.report('s/a'), qwf_test.claim(), qwf_test.travel('3 s');
select qwf_test.report('s/b');
select results_eq('select pg_temp.ends() offset 1', $$ values
  ('{"status": "completed", "seconds": 5}'::jsonb) $$, 'the retry, without what it has waited');

delete from _qwf.event_log;
select qwf.enqueue_run('w');
select qwf.cancel_run(qwf_test.run(), repeat('x', 1000));
select results_eq('select e - ''error'', length(e ->> ''error'') from pg_temp.ends() e', $$ values
  ('{"status": "cancelled", "seconds": 0}'::jsonb, 500) $$,
  'a run that is cancelled, with at most 500 characters of the reason');

delete from _qwf.event_log;
select qwf.register_workflow('{"name": "empty", "steps": []}');
select qwf.enqueue_run('empty');
select results_eq('select pg_temp.ends()',
  $$ values ('{"status": "completed", "seconds": 0}'::jsonb) $$, 'a run without nodes, at once');

delete from _qwf.event_log;
select qwf_test.workflow('c',
  '[{"id": "a"}, {"id": "z", "depends_on": ["a"], "run_if": "all_done"}]');
select qwf.enqueue_run('c');
select qwf_test.attempt('s/a', 'fatal', error => 'boom'), qwf_test.work();
select results_eq('select pg_temp.ends() ->> ''node''', array['s/a'],
  'one event, after the clean-up');
