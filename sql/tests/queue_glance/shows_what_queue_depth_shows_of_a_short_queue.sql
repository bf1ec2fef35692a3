begin;
select plan(4);

select qwf.create_limit('api', 1), qwf.create_queue('cpu', max_running => 4);
select qwf.enqueue('a', queue => 'cpu', limit_by => 'api'),
  qwf.enqueue('b', queue => 'cpu', limit_by => 'api'), qwf.enqueue('c', queue => 'cpu'),
  qwf.enqueue('d', queue => 'gpu'),
  qwf.enqueue('e', queue => 'cpu', run_at => qwf.now() + interval '1 h');
select qwf.register_worker('box', 'cpu', '{"slots": 3}'), qwf.register_worker('other', 'cpu');
select qwf.register_worker('box', 'gpu');
select qwf.worker_control('box', 'cpu', 'off'), qwf.pause_queue('gpu');
select qwf_test.claim();
select results_eq(
  $$ select queue, paused, max_running, workers, slots, queued::bigint, scheduled::bigint,
    running::bigint from qwf.queue_glance order by 1 $$,
  $$ select queue, paused, max_running, workers, slots, queued, scheduled, running
    from qwf.queue_depth order by 1 $$, 'the same figures');
select results_eq(
  $$ select queue, queued, scheduled, more_scheduled, running from qwf.queue_glance order by 1 $$,
  $$ values ('cpu', 2, 1, false, 1), ('default', 0, 0, false, 0), ('gpu', 1, 0, false, 0),
    ('llm', 0, 0, false, 0) $$,
  'which are these');
select ok(head_wait >= '0 s', 'and since when the head waits')
from qwf.queue_glance where queue = 'cpu';

select is(g.oldest_wait, g.head_wait, 'as long as nobody else') from qwf.queue_glance g
where g.queue = 'cpu';

select * from finish();
rollback;
