begin;
select plan(2);

select qwf_test.workflow('one', '[{"id": "a"}]');
select qwf.enqueue_run('one');
select qwf_test.claim();
select qwf.cancel_run(qwf_test.run());
select qwf_test.lapse('s/a');
select is(qwf_test.state('s/a'), 'cancelled', 'nobody needs it');
select is_empty('select * from qwf.check_invariants()', 'the books are in order');

select * from finish();
rollback;
