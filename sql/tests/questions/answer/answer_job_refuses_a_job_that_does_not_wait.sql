-- 4 tests
select throws_ok('select qwf.answer_job(1234567, ''true'')', 'QW001', 'no such job', 'no such job');
select qwf.enqueue('mail');
select throws_ok('select qwf.answer_job(qwf_test.job(''mail''), ''"retry"'')', 'QW002',
  'not waiting for an answer', 'queued');
select qwf_test.explains('select qwf.answer_job(qwf_test.job(''mail''), ''"retry"'')',
  'job ' || qwf_test.job('mail') || ' is queued', 'the error names a job that is no node');
select is((select count(*)::int from qwf.input_answers), 0, 'no answer is recorded');
