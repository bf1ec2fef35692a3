begin;
select plan(3);

select throws_ok('select qwf.answer_job(1234567, ''true'')', 'QW001', 'no such job', 'no such job');
select qwf.enqueue('mail');
select throws_ok('select qwf.answer_job(qwf_test.job(''mail''), ''"retry"'')', 'QW002',
  'not waiting for an answer', 'queued');
select is((select count(*)::int from qwf.input_answers), 0, 'no answer is recorded');

select * from finish();
rollback;
