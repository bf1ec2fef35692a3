-- 4 tests
create function pg_temp.reads() returns bigint language sql as $$
  select coalesce(sum(s.seq_scan + coalesce(s.idx_scan, 0) + s.n_tup_del), 0)::bigint
    - current_setting('qwf_test.reads', true)::bigint
  from pg_stat_xact_user_tables s where s.relid = 'qwf.waits'::regclass
$$;
select set_config('qwf_test.reads', '0', true);
select set_config('qwf_test.reads', pg_temp.reads()::text, true);  -- of transactions before
select qwf.enqueue('t') from generate_series(1, 20);
create temp table started as select * from qwf.claim('default', 'w', 10);
select is((select count(*)::int from started), 10, 'ten jobs');
select count(*) from qwf.finish_many((select jsonb_agg(jsonb_build_object(
  'job_id', s.job_id, 'token', s.token, 'outcome', 'completed')) from started s));
select count(*) from qwf.finish_and_claim('[]', 'default', 'w', 10);
select is(pg_temp.reads(), 0::bigint, 'enqueue, claim and finish read no row of waits');
select qwf.enqueue('mail', expires => '1 h');
select is(pg_temp.reads(), 1::bigint, 'a deadline is looked for, and written');
select count(*) from qwf.claim('default', 'w', 10);
select is(pg_temp.reads(), 3::bigint, 'and deleted by the claim');
