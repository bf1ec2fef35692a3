select qwf.enqueue('late', priority => 200);
select qwf.enqueue('middle');
select qwf.enqueue('soon', priority => -5);
select is(qwf_test.claim('default', 3), 'claimed soon, middle, late', 'lower number sooner');
