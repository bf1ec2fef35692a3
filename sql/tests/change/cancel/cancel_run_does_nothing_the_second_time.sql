-- 3 tests
select qwf_test.question('confirm');
select ok(qwf.cancel_run(qwf_test.run(), 'first'), 'once');
select ok(not qwf.cancel_run(qwf_test.run(), 'second'), 'is enough');
select matches((select error from qwf.runs), 'first$', 'the first reason stands');
