-- 2 tests
select qwf_test.question('confirm');
select qwf.submit_input(qwf_test.run(), 'ask', 'true');
select is_empty('select * from qwf.pending_inputs', 'answered');
select qwf.cancel_run(qwf.enqueue_run('question'));
select is_empty('select * from qwf.pending_inputs', 'cancelled');
