begin;
select plan(4);

select qwf.create_queue('cpu', max_running => 1);
select qwf.enqueue('a', queue => 'cpu'), qwf.enqueue('b', queue => 'cpu');
select is(qwf_test.claim('cpu', 9), 'claimed a', 'one at a time');
select qwf.sleep('w', 'cpu'), qwf.drop_limit('queue:cpu');
select is(qwf_test.woken(), 'w', 'there is work for sleepers');
select is(qwf_test.claim('cpu', 9), 'claimed b', 'limited no more');
select qwf_test.report('a');
select is_empty('select * from qwf.check_invariants()', 'the books are in order');

select * from finish();
rollback;
