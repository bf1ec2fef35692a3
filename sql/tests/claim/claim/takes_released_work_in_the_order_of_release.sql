select qwf.enqueue('a'), qwf.enqueue('b'), qwf.enqueue('c');
select qwf_test.claim('default', 2);
select qwf_test.report('b', 'released'), qwf_test.report('a', 'released');
select is(qwf_test.claim('default', 3), 'claimed b, a, c', 'first back, first out again');
