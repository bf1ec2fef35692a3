-- 4 tests
select qwf.create_limit('api', 2), qwf_test.set_now('2026-01-01 12:00Z');
create temp table worker as select qwf_test.worker('{"current_model": "sam"}') as id;
select qwf.enqueue('old', queue => 'gpu', limit_by => 'api'), qwf_test.travel('59 s');
select qwf.enqueue(t, queue => 'gpu', model => 'sam') from unnest('{a,b,c}'::text[]) t;
select is(qwf_test.gets(id), 'a', 'the head has waited 59 s') from worker;
select qwf_test.travel('1 s'), qwf_test.beat(id, 'sam') from worker;
select is(qwf_test.gets(id), 'old', 'now it has waited affinity_max_wait') from worker;
select qwf.enqueue('older', queue => 'gpu', limit_by => 'api'), qwf_test.travel('61 s');
update qwf.jobs set queued_at = qwf.now() where task in ('b', 'c');
select qwf_test.beat(id, 'sam') from worker;
select is(qwf_test.gets(id), 'b', 'jobs behind the head do not count') from worker;
select qwf.change_job(qwf_test.job('older'), run_next => true);
select is(qwf_test.gets(id), 'older', 'run_next comes before any model') from worker;
