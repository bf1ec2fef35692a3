-- 5 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b"}]');
select throws_ok('select qwf.retry_run(4711)', 'QW001', null, 'no such run');
select qwf.enqueue_run('w', key => 'k');
select throws_ok(
  format('select qwf.retry_run(%s)', qwf_test.run()),
  'QW002', 'the run is not over', 'it is queued');
select qwf_test.claim('cpu', 2);
select qwf_test.report('s/a', 'fatal', error => 'boom');
select throws_ok(
  format('select qwf.retry_run(%s)', qwf_test.run()),
  'QW002', 'a body of the run is still running', 'a sibling still runs');
select qwf_test.report('s/b', 'cancelled');
select throws_ok(
  format('select qwf.retry_run(%s, %L)', qwf_test.run(), 's/z'),
  'QW001', 'no such node', 'no such node');
create temp table first as select qwf_test.run() as id;
select qwf.enqueue_run('w', key => 'k');
select throws_ok(
  format('select qwf.retry_run(%s)', (select id from first)), 'QW008', null, 'its key is taken');
