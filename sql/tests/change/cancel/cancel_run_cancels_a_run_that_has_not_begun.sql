-- 3 tests
select qwf_test.workflow('pair',
  '[{"id": "a"}, {"id": "b", "depends_on": ["a"], "skip_if": true}]');
select qwf.enqueue_run('pair', run_at => qwf.now() + '1 h');
select qwf.cancel_run(qwf_test.run());
select is(qwf_test.nodes(), 's/a cancelled, s/b cancelled', 'while it is delayed');
select qwf_test.travel('2 h'), qwf.tick();
select is(qwf_test.nodes(), 's/a cancelled, s/b cancelled', 'it never starts');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
