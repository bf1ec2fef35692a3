select qwf.create_queue('cpu', on_failure => 'ask');
select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', 'fatal');
select is(qwf_test.state('s/a'), 'failed', 'a node without on_failure fails');
