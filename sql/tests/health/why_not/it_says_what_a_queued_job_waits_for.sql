-- 7 tests
-- No worker, none that fits, jobs ahead, queue paused: in words a person can act on.
select qwf.enqueue('a', requires => '{"disk": "big"}', vram_mb => 9000, model => 'flux');
create function pg_temp.why() returns text language sql as $$
  select string_agg(w, '; ') from qwf.why_not(qwf_test.job('a')) w $$;
select matches(pg_temp.why(), 'no live worker serves queue default', 'there is no worker');
select qwf.register_worker('box', 'default', '{"tasks": ["b"], "models": ["sd"], "vram_mb": 8000}');
select matches(pg_temp.why(), 'worker box:default:\S+ cannot take it: it has no task a',
  'no worker fits');
select matches(pg_temp.why(), 'model flux', 'no model');
select matches(pg_temp.why(), '8000 MiB of VRAM, the job needs 9000', 'no room');
select matches(pg_temp.why(), 'lack .*disk', 'no label');
select qwf.register_worker('box', 'default',
  '{"tasks": ["a"], "models": ["flux"], "vram_mb": 24000, "labels": {"disk": "big"}}');
select qwf.enqueue('first', priority => 1);
select is(pg_temp.why(), '1 job is ahead of it in queue default', 'it is not its turn');
update qwf.queues set paused = true where name = 'default';
select matches(pg_temp.why(), 'queue default is paused', 'the queue is paused');
