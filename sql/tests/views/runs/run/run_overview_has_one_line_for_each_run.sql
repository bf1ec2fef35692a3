-- 4 tests
select qwf_test.set_now('2030-01-01');
select qwf_test.workflow('p',
  '[{"id": "a"}, {"id": "b"}, {"id": "c", "skip_if": true}, {"id": "d"}]');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p"}, {"id": "ask", "kind": "input",
    "widget": "confirm"}]}');
select qwf.enqueue_run('w', project => 'x');
select qwf_test.attempt('s/a'), qwf_test.claim();
select qwf_test.travel('90.5 s');
select results_eq($$
  select id, workflow, version, status::text, project, done, total, failed, running, waiting,
    seconds, created_at, deadline_in, error
  from qwf.run_overview
$$, $$
  values (qwf_test.run(), 'w', 1, 'running', 'x', 2::bigint, 5, 0::bigint, 1::bigint, 1::bigint,
    90.500, '2030-01-01'::timestamptz, null::interval, null)
$$, 'how far it is');
select qwf_test.report('s/b', 'fatal', error => E'boom\nTraceback');
select results_eq($$
  select status::text, done, failed, running, waiting, seconds, error from qwf.run_overview
$$, $$
  values ('failed', 2::bigint, 1::bigint, 0::bigint, 0::bigint, 90.500, 's/b failed: boom')
$$, 'what went wrong');
select qwf.enqueue_run('w');
select results_eq($$
  select status::text, seconds from qwf.run_overview where id = qwf_test.run()
$$, 'values (''queued'', null::numeric)', 'one that has not begun');
select is((select id from qwf.run_overview limit 1), qwf_test.run(), 'the newest first');
