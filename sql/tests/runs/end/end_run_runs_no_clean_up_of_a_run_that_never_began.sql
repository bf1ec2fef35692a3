-- 2 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "tidy", "depends_on": ["a"],
  "run_if": "all_done"}]');
select qwf.enqueue_run('w', run_at => qwf.now() + interval '1 week');
select qwf.cancel_run(qwf_test.run());
select is(qwf_test.nodes() || ', ' || qwf_test.run_state(), 's/a cancelled, s/tidy cancelled, '
  'cancelled', 'it ends at once');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
