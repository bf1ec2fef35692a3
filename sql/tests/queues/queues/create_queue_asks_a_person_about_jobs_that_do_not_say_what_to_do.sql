-- 7 tests
select qwf.enqueue('waiting', queue => 'cpu'),
  qwf.enqueue('own', queue => 'cpu', on_failure => 'fail'),
  qwf.enqueue('lost', queue => 'cpu');
select qwf.create_queue('cpu', on_failure => 'ask');
update qwf.jobs set options.max_losses = 1 where task = 'lost';
select qwf_test.claim('cpu', 9);
select qwf_test.report('waiting', 'fatal'), qwf_test.report('own', 'fatal'),
  qwf_test.report('lost', 'lost');
select is(qwf_test.state('waiting'), 'awaiting_input', 'also one that waited already');
select is(qwf_test.state('own'), 'failed', 'its own choice counts');
select is(qwf_test.state('lost'), 'awaiting_input', 'lost too often');
select results_eq('select job_id from qwf.pending_inputs order by 1',
  $$ select id from qwf.jobs where task <> 'own' order by 1 $$, 'the questions are listed');

select qwf.create_queue('cpu', on_failure => 'fail', keep_completed => false);
select qwf.answer_job(qwf_test.job('waiting'), '"retry"');
select qwf_test.claim('cpu');
select qwf_test.report('waiting', 'fatal');
select is(qwf_test.state('waiting'), 'failed', 'the queue is asked when the job fails');

select qwf.create_queue('cpu', on_failure => 'ask'), qwf.enqueue('dropped', queue => 'cpu');
select qwf_test.claim('cpu');
select qwf_test.report('dropped', 'fatal');
select is(qwf_test.state('dropped'), 'awaiting_input', 'of a queue that keeps no completed jobs');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
