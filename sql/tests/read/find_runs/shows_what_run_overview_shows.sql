-- 3 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b"}, {"id": "c", "depends_on": ["a", "b"]}]');
select qwf_test.question('confirm');
select qwf.enqueue_run('w');
select qwf_test.work('cpu', 1), qwf_test.claim();
select qwf_test.set_now(qwf.now());
select results_eq(
  $$ select id, workflow, version, status, project, done, total, failed, running, asked,
    seconds::numeric, deadline_in, error from qwf.find_runs() $$,
  $$ select id, workflow, version, status, project, done::int, total, failed::int, running::int,
    waiting::int, round(seconds, 3), deadline_in, error from qwf.run_overview order by id desc $$,
  'of open runs');
select qwf.cancel_run(r.id, E'late\nvery') from qwf.runs r;
select is(
  (select array_agg(f.error order by f.id) from qwf.find_runs() f),
  array_fill(format('cancelled by %s: late', session_user), '{2}'), 'why they ended');
select is(
  (select array_agg(f.done || '/' || f.total order by f.id) from qwf.find_runs() f),
  '{0/1,1/3}', 'and how far they came');
