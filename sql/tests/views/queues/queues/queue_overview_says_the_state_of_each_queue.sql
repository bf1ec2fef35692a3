-- 2 tests
select qwf.enqueue('a', queue => 'cpu'), qwf.enqueue('a', queue => 'gpu'),
  qwf.enqueue('a', queue => 'llm');
select qwf.register_worker('box', 'cpu'), qwf.register_worker('box', 'llm');
select qwf.worker_control('box', 'llm', 'off'), qwf.pause_queue('default');
select results_eq($$ select queue, state, workers_off from qwf.queue_overview order by queue $$,
  $$ values ('cpu', 'on', 0::bigint), ('default', 'paused', 0), ('gpu', 'unserved', 0),
    ('llm', 'unserved', 1) $$, 'in a word');
select qwf.resume_queue('default');
select is((select state from qwf.queue_overview where queue = 'default'), '-', 'nothing to say');
