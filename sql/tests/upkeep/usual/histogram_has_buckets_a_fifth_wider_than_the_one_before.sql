-- 4 tests
create function pg_temp.bucket(p_seconds real) returns int language sql as
  'select cardinality(_qwf.histogram(array[p_seconds])) - 1';
select is(pg_temp.bucket(0), 0, 'below a millisecond');
select is(pg_temp.bucket(0.00101), 1, 'from a millisecond');
select is_empty($$
  select n from generate_series(1, 126) n
  where pg_temp.bucket((0.001 * 1.2 ^ (n - 0.99))::real) <> n
    or pg_temp.bucket((0.001 * 1.2 ^ (n - 0.01))::real) <> n
$$, 'up to 110 days');
select is(pg_temp.bucket('infinity'), 127, 'and all above');
