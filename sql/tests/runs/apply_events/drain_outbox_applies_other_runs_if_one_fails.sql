-- 4 tests
select qwf_test.workflow('bad', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf_test.workflow('good', '[{"id": "a", "queue": "gpu"}, {"id": "c", "depends_on": ["a"]}]');
select qwf.enqueue_run('bad');
select qwf_test.jam('s/b'), qwf_test.work();
select qwf_test.unjam(), qwf_test.jam('s/c');
select qwf.enqueue_run('good');
select qwf_test.work('gpu');
select qwf_test.unjam(), qwf_test.jam('s/b');
select is((select count(*) from qwf.outbox), 2::bigint, 'two events wait, one of them bad');
select is(qwf.drain_outbox(), 1, 'the good one is applied');
select results_eq('select workflow, tries from qwf.outbox o join qwf.runs r on r.id = o.run_id', $$
  values ('bad', 1) $$, 'the other waits');
select is(qwf_test.nodes(), 's/a completed, s/c queued', 'the healthy run goes on');
