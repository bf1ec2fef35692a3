-- 4 tests
select qwf_test.set_now('2026-01-01 12:00Z');
create temp table worker as select qwf_test.worker('{"models": ["sam"]}') as id,
  qwf_test.worker('{"models": ["flux"]}') as fit, qwf_test.worker('{"models": []}') as unfit;
select qwf.enqueue('t', queue => 'gpu', model => 'flux');
select qwf_test.travel('1 s');
select qwf.sleep(unfit, 'gpu'), qwf.sleep(fit, 'gpu') from worker;
update qwf.sleepers set since = since - interval '10 ms';
select is(qwf_test.gets(id), 'nothing', 'it cannot take it') from worker;
select is(qwf_test.woken(), null,
  'a worker that fell asleep after the job came has looked already');
select qwf_test.travel('1 s');
update qwf.jobs set queued_at = qwf.now();
select is(qwf_test.gets(unfit), 'nothing', 'nor can this one') from worker;
select is(qwf_test.woken(), fit, 'one that can is woken') from worker;
