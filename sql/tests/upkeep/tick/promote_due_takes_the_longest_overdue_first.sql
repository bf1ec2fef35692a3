-- 2 tests
select qwf.enqueue('second', run_at => qwf.now() + '2 min');
select qwf.enqueue('first', run_at => qwf.now() + '1 min');
select qwf_test.travel('1 h');
select _qwf.promote_due(1);
select is(qwf_test.state('first'), 'queued', 'when it may not take all');
select is(qwf_test.state('second'), 'scheduled', 'in any order of enqueueing');
