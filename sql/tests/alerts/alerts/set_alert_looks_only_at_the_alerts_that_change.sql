-- 2 tests
-- Also if the statistics say that there are none: 2,000 are open, and one more thing happens.
create function pg_temp.happens(p_kind text, p_first int, p_last int) returns void
language sql as $$
  insert into _qwf.event_log (at, kind, subject)
  select qwf.now(), p_kind, 'box ' || n from generate_series(p_first, p_last) n $$;
create function pg_temp.looked() returns bigint language sql as $$
  select pg_stat_get_xact_tuples_fetched('qwf.open_alerts'::regclass)
    + pg_stat_get_xact_tuples_returned('qwf.open_alerts'::regclass) $$;
select qwf_test.set_now('2030-01-01');
select qwf.set_alert('r', '{"when": ["worker_dead"], "do": {"receiver": "ops"}}');
update pg_class set relpages = 0, reltuples = 0
where oid in ('qwf.open_alerts'::regclass, 'qwf.open_alerts_open'::regclass);
select pg_temp.happens('worker_dead', 1, 2000), qwf.tick();
select is((select count(*) from qwf.open_alerts), 2000::bigint, 'all are open');
select pg_temp.happens('worker_dead', 7, 8), pg_temp.happens('worker_back', 9, 10);
create temp table before as select pg_temp.looked() as rows;
select count(*) from _qwf.number_and_match();
select cmp_ok(pg_temp.looked() - rows, '<', 100::bigint, 'it reads a few') from before;
