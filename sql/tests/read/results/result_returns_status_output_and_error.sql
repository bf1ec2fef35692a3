-- 3 tests
create function pg_temp.result(p_task text) returns jsonb language sql as $$
  select qwf.result(qwf_test.job(p_task))
    - '{job_id,attempt,worker,progress,message}'::text[] $$;
select qwf.enqueue('a'), qwf.enqueue('b'), qwf.enqueue('c');
select is(pg_temp.result('a'), '{"status": "queued", "output": null, "error": null}',
  'nothing yet');
select qwf_test.attempt('a', output => '{"n": 1}'), qwf_test.attempt('b', 'fatal', error => 'boom');
select is(pg_temp.result('a'), '{"status": "completed", "output": {"n": 1}, "error": null}',
  'what it returned');
select is(pg_temp.result('b'), '{"status": "failed", "output": null, "error": "boom"}',
  'or why not');
