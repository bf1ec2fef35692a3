-- 6 tests
select setval('qwf.last_tick', 0);  -- a sequence keeps what other tests have set
select results_eq($$ select queued, more_queued, running, scheduled, questions, failed, boxes,
    workers, dead, held, empty, last_tick from qwf.overview $$,
  $$ values (0::bigint, false, 0::bigint, 0::bigint, 0, 0, 0, 0, 0, '{}'::text[], true,
    null::timestamptz) $$, 'nothing');
select qwf.enqueue('a', queue => 'cpu'), qwf.enqueue('a', queue => 'gpu'),
  qwf.enqueue('f', queue => 'llm'), qwf.enqueue('b', queue => 'gpu', run_at => '2100-01-01');
insert into qwf.workers (id, host, queue, last_seen) values
  ('a', 'box', 'llm', qwf.now()), ('b', 'box', 'default', qwf.now()),
  ('c', 'other', 'cpu', qwf.now() - interval '1 h');
select qwf.finish(c.job_id, c.token, 'fatal', null, 'no paper') from qwf.claim('llm', 'a') c;
select count(*) from qwf.claim('cpu', 'a');
select qwf.tick();
select results_eq($$ select queued, running, scheduled, questions, failed, boxes, workers, dead,
    held, empty from qwf.overview $$,
  $$ values (1::bigint, 1::bigint, 1::bigint, 0, 1, 1, 2, 1, '{gpu}'::text[], false) $$, 'all');
select ok(o.tick_age < '1 min' and o.last_tick <= qwf.now(), 'somebody ticks') from qwf.overview o;
select is((select queues from qwf.overview), 4, 'all queues');
select is((select version from qwf.overview), qwf.version(), 'the version of the schema');
select qwf.pause_queue('gpu'), qwf.register_worker('box', 'gpu');
select is((select held from qwf.overview), '{gpu}', 'a paused queue holds its jobs too');
