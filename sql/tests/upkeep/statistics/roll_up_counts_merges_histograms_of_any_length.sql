-- 2 tests
create function pg_temp.bucket(p_seconds real) returns int language sql as
  'select cardinality(_qwf.histogram(array[p_seconds])) - 1';
insert into qwf.attempt_counts values
  ('2030-01-01', 'cpu', 'a', 'completed', '{0.5}', '{0}'),
  ('2030-01-01', 'cpu', 'a', 'completed', '{90}', '{3000}');
select _qwf.roll_up_counts(1), _qwf.roll_up_counts(1);
select results_eq($$
  select w.n - 1, w.count
  from qwf.hourly_counts, unnest(waits) with ordinality w (count, n)
  where w.count > 0
  order by w.n
$$, $$ values
  (pg_temp.bucket(0.5)::bigint, 1::bigint), (pg_temp.bucket(90), 1) $$, 'each in its bucket');
select is((select cardinality(runs) from qwf.hourly_counts), pg_temp.bucket(3000) + 1,
  'no longer than it has to be');
