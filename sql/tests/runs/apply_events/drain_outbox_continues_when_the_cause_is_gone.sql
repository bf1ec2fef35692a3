-- 2 tests
select qwf_test.workflow('pair', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('pair');
select qwf_test.claim();
select qwf_test.jam('s/b'), qwf_test.report('s/a');
select qwf.drain_outbox(), qwf_test.travel('1 s');
select qwf.drain_outbox(), qwf_test.travel('2 s');
select qwf_test.unjam();
select is(qwf.drain_outbox(), 1, 'applied at last');
select qwf_test.attempt('s/b');
select is(qwf_test.run_state(), 'completed', 'nothing was lost');
