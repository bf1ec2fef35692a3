-- 3 tests
create temp table worker as select qwf_test.worker() as id;
select qwf.create_limit('api', 1);
select qwf.enqueue(t, queue => 'gpu') from unnest('{heavy,a,b}'::text[]) t;
select qwf.enqueue(t, queue => 'gpu', limit_by => 'api') from unnest('{limited,c}'::text[]) t;
update qwf.jobs set light = true where task in ('a', 'b', 'c');
select results_eq($$
  select c.task, c.light from worker w, qwf.claim('gpu', w.id, 2, light_only => true) c
$$, $$ values ('a', true), ('b', true) $$, 'in claim order');
select is(qwf_test.gets(id, 9, true), 'c', 'limited jobs too') from worker;
select is(qwf_test.gets(id, 9), 'heavy', 'and heavy jobs when its GPU is free; one limit is full')
  from worker;
