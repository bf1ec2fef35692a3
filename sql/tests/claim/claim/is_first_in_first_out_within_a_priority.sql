-- 2 tests
select qwf.enqueue('first'), qwf.enqueue('second'), qwf.enqueue('third');
select is(qwf_test.claim('default'), 'claimed first', 'the oldest');
select is(qwf_test.claim('default', 5), 'claimed second, third', 'then the others, in order');
