-- 2 tests
select qwf.enqueue('a');
create function pg_temp.result() returns jsonb language sql as $$
  select qwf.result(qwf_test.job('a')) - '{job_id,status,output,error}'::text[] $$;
select is(pg_temp.result(),
  '{"attempt": 0, "worker": null, "progress": null, "message": null}', 'it has not begun');
select qwf.claim('default', 'w');
select qwf.progress(qwf_test.job('a'), qwf_test.token('a'), 0.5, 'page 2 of 4');
select is(pg_temp.result(),
  '{"attempt": 1, "worker": "w", "progress": 0.5, "message": "page 2 of 4"}', 'it is half done');
