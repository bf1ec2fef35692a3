-- 6 tests
select qwf_test.set_now('2030-01-01');
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b"}, {"id": "c", "depends_on": ["a"]}]');
select qwf.enqueue_run('w', run_at => '2030-01-02');
select is(qwf_test.nodes(), 's/a scheduled, s/b scheduled, s/c blocked', 'its first nodes wait');
select qwf_test.travel('1 day');
select is(_qwf.promote_due(), 2, 'they are due');
select is(qwf_test.work(), 2, 'and run');
select is(qwf_test.work(), 1, 'and the others after them');
select is(qwf_test.run_state(), 'completed', 'to the end');
select is_empty('select * from qwf.check_invariants()', 'no invariant is broken');
