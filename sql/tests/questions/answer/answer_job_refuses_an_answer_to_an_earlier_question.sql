-- 4 tests
select qwf.enqueue('mail', on_failure => 'ask');
select qwf_test.claim('default');
select qwf_test.report('mail', 'fatal');
create temporary table asked as select since from qwf.pending_inputs;
select qwf.answer_job(qwf_test.job('mail'), '"retry"', asked => (select since from asked));
select is(qwf_test.state('mail'), 'queued', 'the time of the question is the one in the view');
select qwf_test.travel('1 second');
select qwf_test.claim('default');
select qwf_test.report('mail', 'fatal');
select throws_ok(
  $$ select qwf.answer_job(qwf_test.job('mail'), '"abort"', asked => (select since from asked)) $$,
  'QW002', 'the job asks again', 'an answer to the first question does not abort the second try');
select is(qwf_test.state('mail'), 'awaiting_input', 'it still asks');
select qwf.answer_job(qwf_test.job('mail'), '"abort"', asked => p.since) from qwf.pending_inputs p;
select is(qwf_test.state('mail'), 'failed', 'an answer to the present question is taken');
