-- 2 tests
insert into qwf.attempt_counts
select '2030-01-01'::timestamptz + n * interval '1 hour', 'cpu', 'a', o, '{1}', array[n]
from generate_series(1, 3) n, unnest(array['completed', 'error']) o;
select _qwf.roll_up_counts();
select results_eq(
  'select queue, task, outcome, count, wait_seconds, run_seconds from qwf.attempt_totals
   order by outcome',
  $$values ('cpu', 'a', 'completed', 3::bigint, 3::float8, 6::float8),
    ('cpu', 'a', 'error', 3::bigint, 3::float8, 6::float8)$$,
  'of one batch');

insert into qwf.attempt_counts
values ('2030-01-02', 'cpu', 'a', 'completed', '{1, 1}', '{100, 100}');
select _qwf.roll_up_counts();
select results_eq($$
  select t.count, t.run_seconds, (select sum(r) from unnest(t.runs) r)
  from qwf.attempt_totals t where t.outcome = 'completed'
$$, 'values (5::bigint, 206::float8, 5::numeric)', 'and of the next');
