-- 2 tests
select qwf.enqueue('urgent', priority => -100);
select qwf.enqueue('chosen', priority => 500);
update qwf.jobs set run_next = true where id = qwf_test.job('chosen');
select is(qwf_test.claim('default'), 'claimed chosen', 'an operator comes first');
select ok(not run_next, 'the wish is spent') from qwf.jobs where id = qwf_test.job('chosen');
