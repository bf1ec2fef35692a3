begin;
select plan(3);

select qwf_test.set_now('2030-01-01');
select qwf_test.workflow('p',
  '[{"id": "a"}, {"id": "b"}, {"id": "c", "skip_if": true}, {"id": "d"}]');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p"}, {"id": "ask", "kind": "input",
    "widget": "confirm"}]}');
select qwf.enqueue_run('w', project => 'x', priority => 7);
select qwf_test.attempt('s/a'), qwf_test.claim();
select qwf_test.travel('90 s');
select results_eq($$
  select id, workflow, version, status::text, project, priority, done, total, failed, running,
    waiting, error, seconds
  from qwf.run_overview
$$, $$
  values (qwf_test.run(), 'w', 1, 'running', 'x', 7, 2::bigint, 5, 0::bigint, 1::bigint, 1::bigint,
    null, 90.000)
$$, 'how far it is');
select qwf_test.report('s/b', 'fatal', error => 'boom');
select results_eq($$
  select status::text, done, failed, running, waiting, error, seconds from qwf.run_overview
$$, $$
  values ('failed', 2::bigint, 1::bigint, 0::bigint, 0::bigint, 's/b failed: boom', 90.000) $$,
    'what went wrong');
select qwf.enqueue_run('w');
select results_eq($$
  select status::text, started_at, seconds from qwf.run_overview where id = qwf_test.run()
$$, $$
  values ('queued', null::timestamptz, null::numeric) $$, 'one that has not begun');

select * from finish();
rollback;
