-- 3 tests
select qwf_test.set_now('2026-01-01 12:00Z');
create temp table worker as select qwf_test.worker() as id;
select qwf.enqueue('short', queue => 'gpu', expires => '1 min'),
  qwf.enqueue('begun', queue => 'gpu', expires => '1 min', max_attempts => 2);
select is(qwf_test.gets(id, 2), 'short, begun', 'in time') from worker;
select qwf_test.report('short', 'released'), qwf_test.report('begun', 'released');
select qwf.enqueue('late', queue => 'gpu', expires => '1 min'), qwf_test.travel('1 min');
select is(qwf_test.gets(id, 9), 'short, begun',
  'a job started in time may be claimed again; an expired one may not')
  from worker;
select is(qwf_test.state('late'), 'queued', 'tick cancels it');
