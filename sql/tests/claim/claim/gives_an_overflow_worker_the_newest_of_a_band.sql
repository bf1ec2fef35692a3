-- 5 tests
create temp table worker as select qwf_test.worker('{"rank": -1}') as id;
select qwf.enqueue(t, queue => 'gpu', priority => 50) from unnest('{a,b}'::text[]) t;
select qwf.enqueue(t, queue => 'gpu') from unnest('{c,d,e,f}'::text[]) t;
select qwf.change_job(qwf_test.job('c'), run_next => true);
select is(qwf_test.gets(id), 'c', 'run_next first') from worker;
select is(qwf_test.gets(id, 3), 'b, a, f', 'bands in order, newest first in each') from worker;
select is(qwf_test.gets(id, 9), 'e, d', 'the rest') from worker;
select is(qwf_test.gets(id), 'nothing', 'and no more') from worker;
select qwf.enqueue('p' || n, queue => 'gpu', priority => n) from generate_series(1, 40) n;
select is(qwf_test.gets(id, 50), (select string_agg('p' || n, ', ' order by n)
  from generate_series(1, 40) n), 'any number of bands') from worker;
