-- 4 tests
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
  $$ select queue, paused, max_running, workers, slots from qwf.queue_overview order by 1 $$,
  $$ values ('cpu', false, 4, 1::bigint, 1::bigint), ('default', false, null, 0, 0),
    ('gpu', true, null, 1, 1), ('llm', false, null, 0, 0) $$,
  'who serves each queue');
select results_eq(
  $$ select queue, queued, estimated, scheduled, more_scheduled, running
    from qwf.queue_overview order by 1 $$,
  $$ values ('cpu', 2, false, 1, false, 1), ('default', 0, false, 0, false, 0),
    ('gpu', 1, false, 0, false, 0), ('llm', 0, false, 0, false, 0) $$,
  'and its jobs');
select ok(head_wait >= '0 s', 'since when the head waits')
from qwf.queue_overview where queue = 'cpu';
select is(d.oldest_wait, d.head_wait, 'as long as nobody else') from qwf.queue_overview d
where d.queue = 'cpu';
