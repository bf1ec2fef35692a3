-- 6 tests
select qwf_test.set_now('2026-01-01 12:00Z');
create temp table job as select qwf.enqueue('t', backoff => '[100]', max_attempts => 1) as id;
create function pg_temp.released(p_detail jsonb) returns text language plpgsql as $$
begin
  perform qwf.finish((select id from job), (select token from qwf.claim('default', 'w')),
    'released', detail => p_detail);
  return (select concat_ws(' ', j.status, j.run_at - qwf.now(), j.failures, j.losses)
    from qwf.jobs j);
end $$;
select is(pg_temp.released('{"retry_after_s": 15}'), 'scheduled 00:00:15 0 0', 'exactly so long');
select is((select string_agg(w, '') from qwf.why_not((select id from job)) w),
  'it waits for 2026-01-01 12:00:15+00, in 00:00:15', 'and says so');
select qwf_test.travel('15 s');
select _qwf.promote_due();
select is(pg_temp.released('{"retry_after_s": "soon"}'), 'queued 0 0', 'no number: at once');
select is(pg_temp.released('{"retry_after_s": 0.5}'), 'scheduled 00:00:01 0 0', 'at least 1 s');
select qwf_test.travel('1 s');
select _qwf.promote_due();
select is(pg_temp.released('{"retry_after_s": 1e9}'), 'scheduled 366 days 0 0',
  'at most 366 days');
select is_empty('select * from qwf.check_invariants()', 'nothing is broken');
