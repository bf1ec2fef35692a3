begin;
select plan(7);

select qwf_test.workflow('w', '[{"id": "a"},
  {"id": "tidy", "depends_on": ["a"], "run_if": "all_done"}]');
select qwf.enqueue_run('w');
select ok(qwf.cancel_run(qwf_test.run(), 'enough'), 'cancelled');
select is(qwf_test.nodes(), 's/a cancelled, s/tidy queued', 'the clean-up runs');
select is(qwf_test.run_state(), 'running', 'so the run does');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select ok(qwf.cancel_run(qwf_test.run()), 'again');
select is(qwf_test.nodes() || ', ' || qwf_test.run_state(),
  's/a cancelled, s/tidy cancelled, cancelled', 'the clean-up too');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');

select * from finish();
rollback;
