-- 4 tests
-- The fence: a worker that lost the job can change nothing about it.
select qwf.enqueue('a');
select qwf_test.claim('default');
create temp table old as select token from qwf.jobs;
select qwf_test.lapse('a');
select is(qwf.finish(qwf_test.job('a'), (select token from old), 'completed', '{"n": 1}'), 'lost',
  'while it waits');
select qwf_test.claim('default');
create temp table held as select * from qwf.jobs;
select is(qwf.finish(qwf_test.job('a'), (select token from old), 'completed', '{"n": 1}'), 'lost',
  'while another runs it');
select results_eq('select * from qwf.jobs', 'select * from held', 'nothing is changed');
select is((select count(*) from qwf.job_attempts), 1::bigint, 'no attempt is written');
