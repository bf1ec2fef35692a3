-- 3 tests
-- A thousand nodes deep: skips cascade in one go.
select qwf_test.workflow('chain', (
  select jsonb_agg(jsonb_build_object('id', 'n' || n, 'node', 'n', 'skip_if', true, 'depends_on',
    case n when 1 then '[]' else jsonb_build_array('n' || n - 1) end))
  from generate_series(1, 1000) n));
select qwf.enqueue_run('chain');
select results_eq('select status::text, count(*) from qwf.jobs group by 1', $$
  values ('skipped', 1000::bigint) $$,
  'every node');
select results_eq('select status::text, open_nodes from qwf.runs', $$ values ('completed', 0) $$,
  'the run is over');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
