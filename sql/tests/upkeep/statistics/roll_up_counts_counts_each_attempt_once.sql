-- 6 tests
insert into qwf.attempt_counts
select '2030-01-01', 'cpu', 'a', 'completed', array_fill(1::real, array[n]),
  array_fill(2::real, array[n])
from generate_series(1, 10) n;
select is(_qwf.roll_up_counts(4), 4, 'no more than asked for');
select is(_qwf.roll_up_counts(100), 6, 'the rest is added to what is there');
select is(_qwf.roll_up_counts(100), 0, 'and nothing twice');
select results_eq(
  'select count, wait_seconds, run_seconds from qwf.hourly_counts',
  'values (55::bigint, 55::float8, 110::float8)', 'all are counted');
select results_eq($$
  select (select sum(w) from unnest(waits) w), (select sum(r) from unnest(runs) r)
  from qwf.hourly_counts
$$, 'values (55::numeric, 55::numeric)', 'in the histograms, too');
select results_eq($$
  select h.count, h.wait_seconds, h.run_seconds, h.waits, h.runs from qwf.hourly_counts h
$$, $$
  select t.count, t.wait_seconds, t.run_seconds, t.waits, t.runs from qwf.attempt_totals t
$$, 'and in the totals');
