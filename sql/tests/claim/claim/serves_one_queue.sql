select qwf.enqueue('here', queue => 'cpu'), qwf.enqueue('there', queue => 'gpu');
select is(qwf_test.claim('cpu', 10), 'claimed here', 'other queues are left alone');
