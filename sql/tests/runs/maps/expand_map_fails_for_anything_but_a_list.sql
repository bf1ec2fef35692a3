-- 4 tests
select qwf_test.workflow('w', '[{"id": "scan"},
  {"id": "each", "depends_on": ["scan"], "map": {"$from": "scan.items"}}]');
select qwf.enqueue_run('w'), qwf.enqueue_run('w');
select qwf_test.claim(p_max_jobs => 2);
select count(qwf.finish(j.id, j.token, 'completed', case when j.run_id = qwf_test.run()
  then '{"items": 7}'::jsonb else jsonb_build_object('items', (
    select jsonb_agg(1) from generate_series(1, 10001))) end))
from qwf.jobs j where j.status = 'running';
select results_eq($$ select last_error from qwf.jobs where node_id = 's/each' order by id desc $$,
  $$ values ('QW004: map is number, not a list'), ('QW004: map is a list of 10001, '
    'at most 10000 fit (max_elements of qwf.settings)') $$, 'and says so');
select is((select count(*)::int from qwf.jobs where parent_id is not null), 0, 'no element');
select is(qwf_test.run_state(), 'failed', 'the run failed');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
