-- 5 tests
select qwf.enqueue('a'), qwf.enqueue('b');
select qwf_test.claim('default', 2);
create temp table old as select qwf_test.token('a') as token;
select is(qwf.progress(qwf_test.job('b'), (select token from old), 0.5), 'lost',
  'the token of another job');
select is(qwf.progress(qwf_test.job('a'), null, 0.5), 'lost', 'no token');
select is(qwf.progress(-1, (select token from old), 0.5), 'lost', 'no such job');
select qwf_test.report('a', 'released');
select qwf_test.claim('default');
select is(qwf.progress(qwf_test.job('a'), (select token from old), 0.5), 'lost',
  'the token of an earlier claim');
select is_empty('select * from qwf.job_progress', 'nothing is written');
