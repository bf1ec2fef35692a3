begin;
select plan(1);

select qwf_test.workflow('one', '[{"id": "a", "retry": {"max_losses": 1}}]');
select qwf.enqueue_run('one');
select qwf_test.attempt('s/a', 'lost');
select is(qwf_test.state('s/a'), 'failed', 'one is the budget here');

select * from finish();
rollback;
