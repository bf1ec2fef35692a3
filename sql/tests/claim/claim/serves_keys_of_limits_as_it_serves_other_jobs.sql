-- 8 tests
create temp table worker as select qwf_test.worker('{"current_model": "sam"}') as id;
select qwf.create_limit('customer', 1, keyed => true);
select qwf.enqueue('plain', queue => 'gpu', priority => 1, limit_by => 'customer:a'),
  qwf.enqueue('flux', queue => 'gpu', model => 'flux', limit_by => 'customer:b'),
  qwf.enqueue('sam', queue => 'gpu', model => 'sam', limit_by => 'customer:c'),
  qwf.enqueue('other', queue => 'gpu', model => 'sam', priority => 50),
  qwf.enqueue('next', queue => 'gpu', priority => 900, limit_by => 'customer:d');
select qwf.change_job(qwf_test.job('next'), run_next => true);
select is(qwf_test.gets(id, 4), 'next, other, sam, plain',
  'run_next before all, then its model by priority, then the others') from worker;
select is(qwf_test.gets(id, 4), 'flux', 'then other models') from worker;

select qwf_test.beat(id) from worker;
select qwf.enqueue(t, queue => 'gpu', limit_by => 'customer:' || t, light => t <> 'heavy')
from unnest('{heavy,light}'::text[]) t;
select is(qwf_test.gets(id, 9, true), 'light', 'light jobs only, if asked') from worker;
select is(qwf_test.gets(id, 9), 'heavy', 'and heavy ones when its GPU is free') from worker;

select qwf.enqueue('late', queue => 'gpu', limit_by => 'customer:e', run_at => qwf.now() + '1 h'),
  qwf.enqueue('gone', queue => 'gpu', limit_by => 'customer:f', expires => '1 min');
select qwf_test.travel('2 min');
select is(qwf_test.gets(id, 9), 'nothing', 'neither what is scheduled nor what has expired')
  from worker;
select qwf.create_queue('gpu', max_running => 8);
select qwf.enqueue('full', queue => 'gpu', limit_by => 'customer:' || n)
from generate_series(1, 5) n;
select is((select count(*) from qwf.jobs where status = 'running'), 7::bigint);
select is(qwf_test.gets(id, 9), 'full', 'the limit of the queue counts them, too') from worker;
select is_empty('select * from qwf.check_invariants()', 'no invariant is broken');
