-- 7 tests
select qwf.enqueue('a', priority => 7);
select qwf.enqueue('b', priority => 8);
select qwf.change_job(qwf_test.job('b'), priority => 1);
select is(qwf_test.claim('default'), 'claimed b', 'the priority decides');
select qwf.change_job(qwf_test.job('a'), queue => 'cpu');
select is(
  (select row(queue, priority)::text from qwf.jobs where task = 'a'), '(cpu,7)', 'the rest stays');
select throws_ok(
  format('select qwf.change_job(%s, queue => %L)', qwf_test.job('a'), 'nope'),
  'QW006', null, 'unknown queue');
select qwf.change_job(qwf_test.job('a'), run_at => qwf.now() + interval '1 h');
select is(qwf_test.state('a'), 'scheduled', 'later');
select qwf.change_job(qwf_test.job('a'), run_at => qwf.now() - interval '1 h');
select is(qwf_test.state('a'), 'queued', 'now');
select throws_ok(
  format('select qwf.change_job(%s, priority => 1)', qwf_test.job('b')),
  'QW002', null, 'not a running one');
select throws_ok('select qwf.change_job(4711)', 'QW001', null, 'no such job');
