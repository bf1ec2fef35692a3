-- 2 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a'), qwf_test.attempt('s/b');
select is(
  (select (verdict, code, hint)::text from qwf.retry_jobs(array[qwf_test.job('s/a')])),
  format('(refused,QW002,"to run its run again from there: select qwf.retry_run(%s, ''s/a'')")',
    qwf_test.run()),
  'a caller with an old list runs nothing twice');
select is(qwf_test.nodes(), 's/a completed, s/b completed', 'both stay completed');
