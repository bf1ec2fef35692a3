-- 2 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
create temp table old as select token from qwf.jobs;
select qwf_test.report('a', 'fatal');
select is(qwf.finish(qwf_test.job('a'), (select token from old), 'completed'), 'lost',
  'the first writer wins');
select is(qwf_test.state('a'), 'failed', 'nothing is changed');
