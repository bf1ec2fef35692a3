-- 2 tests
-- Its skip_if is not evaluated again after the first claim.
select qwf_test.workflow('one', '[{"id": "a", "skip_if": false, "retry": {"max_attempts": 2}}]');
select qwf.enqueue_run('one');
select qwf_test.attempt('s/a', 'error');
select qwf_test.travel('1 h');
select _qwf.promote_due();
select is(qwf_test.state('s/a'), 'queued', 'at once, without an event');
select is_empty('select * from qwf.check_invariants()', 'no invariant is broken');
