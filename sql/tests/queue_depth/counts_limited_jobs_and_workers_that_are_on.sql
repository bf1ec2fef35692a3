begin;
select plan(2);

select qwf.create_limit('api', 1), qwf.create_queue('cpu', max_running => 4);
select qwf.enqueue('a', queue => 'cpu', limit_by => 'api'),
  qwf.enqueue('b', queue => 'cpu', limit_by => 'api'), qwf.enqueue('c', queue => 'cpu');
select qwf.register_worker('box', 'cpu', '{"slots": 3}'), qwf.register_worker('other', 'cpu');
select qwf.worker_control('box', 'cpu', 'off');
select qwf_test.claim();
select results_eq($$
  select max_running, workers, slots, queued, running from qwf.queue_depth where queue = 'cpu'
$$, $$ values (4, 1::bigint, 1::bigint, 2::bigint, 1::bigint) $$, 'all of it');
select ok((select oldest_wait >= '0 s' from qwf.queue_depth where queue = 'cpu'), 'and since when');

select * from finish();
rollback;
