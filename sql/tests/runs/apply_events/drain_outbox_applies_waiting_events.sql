-- 6 tests
select qwf_test.workflow('pair', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('pair');
select is(qwf.drain_outbox(), 0, 'nothing waits');
select qwf_test.claim();
select qwf_test.jam('s/b'), qwf_test.report('s/a'), qwf_test.unjam();
select is(qwf.drain_outbox(), 1, 'one event applied');
select is(qwf_test.nodes(), 's/a completed, s/b queued', 'the run goes on');
select is_empty('select * from qwf.outbox', 'an applied event is gone');
select is(qwf.drain_outbox(), 0, 'nothing waits any more');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
