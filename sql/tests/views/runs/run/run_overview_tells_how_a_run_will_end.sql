-- 4 tests
-- Clean-up nodes still run after the outcome of the run is decided.
select qwf_test.set_now('2030-01-01');
select qwf_test.workflow('w', '[
  {"id": "a"}, {"id": "tidy", "depends_on": ["a"], "run_if": "all_done"}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', 'fatal', error => 'boom');
select results_eq('select status::text, error from qwf.run_overview',
  $$ values ('running', 'ends failed: s/a failed: boom') $$, 'before it has ended');
select qwf_test.work();
select results_eq('select status::text, error from qwf.run_overview',
  $$ values ('failed', 's/a failed: boom') $$, 'and after');
select qwf.enqueue_run('w');
update qwf.runs set deadline_at = qwf.now() + interval '10 min' where id = qwf_test.run();
select qwf_test.travel('4 min');
select is((select deadline_in from qwf.run_overview limit 1), interval '6 min',
  'how long it still has');
update qwf.runs set deadline_at = 'infinity' where id = qwf_test.run();
select is((select deadline_in from qwf.run_overview limit 1), null, 'forever is no interval');
