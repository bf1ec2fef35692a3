-- 7 tests
select qwf_test.workflow('w', '[
  {"id": "a", "skip_if": true}, {"id": "b", "skip_if": false}, {"id": "c", "depends_on": ["a"]}]');
select qwf.enqueue_run('w', run_at => qwf.now() + '1 h');
select is(qwf_test.nodes(), 's/a scheduled, s/b scheduled, s/c blocked', 'not yet');
select is_empty('select * from qwf.check_invariants()', 'no invariant is broken while it waits');
select qwf_test.travel('2 h');
select is(_qwf.promote_due(), 2, 'now');
select is_empty('select * from qwf.check_invariants()', 'no invariant is broken between the two');
select is(qwf.drain_outbox(), 2, 'under the lock of its run');
select is(qwf_test.nodes(), 's/a skipped, s/b queued, s/c queued', 'looked at');
select is_empty('select * from qwf.check_invariants()', 'no invariant is broken');
