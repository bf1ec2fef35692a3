-- 3 tests
select qwf_test.workflow('pair', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('pair'), qwf.enqueue_run('pair'), qwf.enqueue_run('pair');
select qwf_test.jam('s/b'), qwf_test.work(), qwf_test.unjam();
select is(qwf.drain_outbox(1), 1, 'the oldest');
select is((select min(run_id) from qwf.jobs where node_id = 's/b' and status = 'queued'),
  (select min(id) from qwf.runs), 'first');
select is(qwf.drain_outbox(2), 2, 'the others');
