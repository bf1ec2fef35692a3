select qwf_test.question('confirm');
select qwf.answer_job(qwf_test.job('ask'), 'true');
select is(qwf_test.run_state(), 'completed', 'like submit_input');
