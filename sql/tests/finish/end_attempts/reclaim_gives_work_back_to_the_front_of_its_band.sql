select qwf.enqueue('a', priority => 50), qwf.enqueue('b', priority => 50);
select qwf_test.claim('default');
select qwf.enqueue('urgent', priority => 1);
select qwf_test.lapse('a');
select is(qwf_test.claim('default', 3), 'claimed urgent, a, b', 'once more, before its equals');
