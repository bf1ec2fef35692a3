-- 6 tests
select qwf_test.set_now('2030-01-01');
create temp table worker as select qwf.register_worker('box', 'llm', '{"models": ["qwen"],
  "servers": [{"name": "vllm", "kind": "openai", "parallel": 4, "models": {"qwen": null}}]}') as id;
create temp table job as select qwf.enqueue('llm', queue => 'llm', model => 'qwen') as id;
do $$ begin perform qwf.claim('llm', id) from worker; end $$;
create function pg_temp.why(p_stats jsonb) returns text language sql as $$
  select qwf.heartbeat(id, stats => jsonb_build_object('servers', jsonb_build_array(
    jsonb_build_object('name', 'vllm', 'waiting', jsonb_build_array(0, (select id from job)))
      || p_stats))) from worker;
  select replace((select string_agg(w, '; ') from job, qwf.why_not(job.id) w), worker.id, 'W')
  from worker $$;

select is(pg_temp.why('{"state": "failed", "retry_s": 7.4,
    "error": "exit code 127 at its start: there is no program x\nmore"}'),
  'it is claimed by W, and waits there for its model server vllm: failed: exit code 127 at its '
  'start: there is no program x, next start in 8 s', 'one that has failed');
select is(pg_temp.why('{"state": "ready", "inflight": 4, "parallel": 4, "retry_s": null}'),
  'it is claimed by W, and waits there for its model server vllm: ready, 4 of 4 requests in flight',
  'one that is full');
select is(pg_temp.why('{"state": "starting"}'),
  'it is claimed by W, and waits there for its model server vllm: starting', 'one that starts');
select is(pg_temp.why('{"waiting": []}'), 'it is running: worker W, attempt 1, for 00:00:00',
  'a job that has started');
select is(pg_temp.why('{"waiting": "all", "retry_s": {}, "state": 7}'),
  'it is running: worker W, attempt 1, for 00:00:00', 'nonsense breaks nothing');
do $$ begin perform qwf.cancel_job(id) from job; end $$;
select is(pg_temp.why('{"state": "off"}'),
  'it is claimed by W, and waits there for its model server vllm: off, and will be cancelled',
  'one to cancel');
