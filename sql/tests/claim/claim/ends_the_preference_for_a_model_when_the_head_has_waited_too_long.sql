-- 4 tests
select qwf_test.set_now('2026-01-01 12:00Z');
create temp table worker as select qwf_test.worker('{"current_model": "sam"}') as id;
select qwf.enqueue('head', queue => 'gpu', model => 'flux');
select qwf_test.travel('59 s');
select qwf.enqueue(t, queue => 'gpu', model => 'sam') from unnest('{a,b}'::text[]) t;
select is(qwf_test.gets(id), 'a', 'the head has waited 59 s') from worker;
select qwf_test.travel('1 s'), qwf_test.beat(id, 'sam') from worker;
select is(qwf_test.gets(id), 'head', 'now it has waited affinity_max_wait') from worker;
select qwf.enqueue('unfit', queue => 'gpu', requires => '{"big": "yes"}', priority => 1),
  qwf_test.travel('61 s');
select qwf.enqueue('c', queue => 'gpu'), qwf.enqueue('d', queue => 'gpu', model => 'sam'),
  qwf_test.beat(id, 'sam') from worker;
update qwf.jobs set queued_at = qwf.now() where task = 'b';
select is(qwf_test.gets(id), 'b', 'a job it could not take does not count') from worker;
update qwf.settings set affinity_max_wait = '0 s';
select is(qwf_test.gets(id), 'c', 'no wait, no preference') from worker;
