-- 6 tests
create function pg_temp.next() returns int language sql as $$
  select j.next_element from qwf.jobs j where j.elements is not null
$$;
select qwf_test.workflow('w', format('[{"id": "m", "map": {"$value": %s}, "max_parallel": 2}]',
  (select jsonb_agg(n) from generate_series(1, 100) n))::jsonb);
select qwf.enqueue_run('w');
select is(pg_temp.next(), 2, 'two elements are queued');
create function pg_temp.work(p_times int) returns void language plpgsql as $$
begin
  for v_n in 1 .. p_times loop
    perform qwf.finish(c.job_id, c.token, 'completed') from qwf.claim('cpu', 'w') c;
  end loop;
end $$;
select pg_temp.work(60);
select cmp_ok(pg_temp.next(), '>=', 40, 'it has moved');
select cmp_ok(pg_temp.next(), '<', 62, 'and passes no element that waits');
select pg_temp.work(40);
select is(pg_temp.next(), 100, 'none is left');
select is((select count(*)::int from qwf.jobs j where j.status = 'completed'), 101,
  'all of them ran');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
