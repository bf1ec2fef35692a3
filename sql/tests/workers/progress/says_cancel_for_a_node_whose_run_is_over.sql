select qwf_test.workflow('one', '[{"id": "a"}]');
select qwf.enqueue_run('one');
select qwf_test.claim();
select qwf.cancel_run(qwf_test.run());
select is(qwf.progress(qwf_test.job('s/a'), qwf_test.token('s/a'), 0.5), 'cancel', 'stop the body');
