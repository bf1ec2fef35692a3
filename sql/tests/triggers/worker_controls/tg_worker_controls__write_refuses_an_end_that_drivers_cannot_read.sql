-- 5 tests
create function pg_temp.ends(p_until text) returns text language sql as $$
  select format('insert into qwf.worker_controls (host_label, queue, desired_state, until) '
    'values (''box'', ''gpu'', ''off'', %L)', p_until)
$$;
select throws_ok(pg_temp.ends('infinity'), 'QW005', 'invalid end of an order', 'infinity');
select throws_ok(pg_temp.ends('-infinity'), 'QW005', 'invalid end of an order', '-infinity');
select throws_ok(pg_temp.ends('10000-01-01Z'), 'QW005', 'invalid end of an order', 'year 10000');
select qwf_test.explains(pg_temp.ends('infinity'), 'until infinity', 'it says which end');
select lives_ok(pg_temp.ends('9999-12-31 12:00Z'), 'the last date that they can read');
