-- 2 tests
select qwf.enqueue('held', priority => 50), qwf.enqueue('same', priority => 50);
select qwf_test.claim('default');
select qwf.enqueue('sooner', priority => 10);
select qwf_test.report('held', 'released');
select is(qwf_test.claim('default', 3), 'claimed sooner, held, same', 'front of its own band');
select is(priority, 50, 'its priority is not rewritten') from qwf.jobs
where id = qwf_test.job('held');
