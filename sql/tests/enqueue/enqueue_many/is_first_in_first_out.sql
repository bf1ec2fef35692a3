select count(*) from qwf.enqueue_many('[{"task": "c"}, {"task": "a", "key": "k"}, {"task": "b"}]');
select is(qwf_test.claim('default', 3), 'claimed c, a, b', 'in the order given');
