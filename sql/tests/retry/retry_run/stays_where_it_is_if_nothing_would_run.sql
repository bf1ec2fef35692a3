-- 8 tests
-- A plan that only removes nodes, or changes when and where they run, does nothing.
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b"}]');
select qwf.enqueue_run('w');
select qwf_test.work();
select is(qwf_test.run_state(), 'completed', 'it completed');
create temp table was as select graph_id from qwf.runs;
select qwf_test.workflow('w', '[{"id": "a", "timeout": "1 min", "queue": "gpu"}]');
select results_eq($$ select node_id, verdict from qwf.retry_plan(qwf_test.run(), latest => true) $$,
  $$ values ('s/a', 'reused'), ('s/b', 'removed') $$, 'nothing would run');
select throws_ok('select qwf.retry_run(qwf_test.run(), latest => true)', 'QW002',
  'nothing to retry', 'so it is refused');
select qwf_test.explains('select qwf.retry_run(qwf_test.run(), latest => true)',
  'run % is completed, and every node that it would keep is reused', 'and says why');
select results_eq('select graph_id from qwf.runs', 'select graph_id from was',
  'the run stays where it is');
select is(qwf_test.nodes(), 's/a completed, s/b completed', 'with all its nodes');
select is(qwf.retry_run(qwf_test.run(), 's/a', true), 1, 'a node that is named moves it');
select results_eq(
  $$ select j.node_id, j.queue, (j.options).timeout, j.status::text from qwf.jobs j $$,
  $$ values ('s/a', 'gpu', interval '1 min', 'queued') $$, 'with the terms of now');
