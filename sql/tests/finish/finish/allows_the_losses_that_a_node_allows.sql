select qwf_test.workflow('one', '[{"id": "a", "retry": {"max_losses": 1}}]');
select qwf.enqueue_run('one');
select qwf_test.attempt('s/a', 'lost');
select is(qwf_test.state('s/a'), 'failed', 'the budget is one loss');
