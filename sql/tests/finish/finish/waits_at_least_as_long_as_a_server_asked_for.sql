-- 5 tests
select qwf_test.set_now('2026-01-01 12:00Z');
create temp table job as select qwf.enqueue('t', backoff => '[1]', max_attempts => 9) as id;
create function pg_temp.wait(p_detail jsonb) returns interval language plpgsql as $$
declare
  v_token uuid := (select token from qwf.claim('default', 'w'));
begin
  perform qwf.finish((select id from job), v_token, 'tempfail', detail => p_detail);
  perform qwf_test.set_now(run_at) from qwf.jobs;
  perform _qwf.promote_due();
  return run_at - lag from qwf.jobs, lateral (select finished_at as lag
    from qwf.job_attempts order by attempt desc limit 1) a;
end $$;
select is(pg_temp.wait('{"retry_after_s": 30}'), interval '30 s', 'longer than its backoff');
select cmp_ok(pg_temp.wait('{"retry_after_s": 0.1}'), '>=', interval '0.9 s', 'shorter');
select is(pg_temp.wait('{"retry_after_s": 90000}'), interval '25 h', 'also more than a day');
select is(pg_temp.wait('{"retry_after_s": 4e7}'), interval '8784 h', 'at most 366 days');
select cmp_ok(pg_temp.wait('{"retry_after_s": "soon"}'), '<=', interval '1.1 s', 'no number');
