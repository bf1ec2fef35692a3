begin;
select plan(5);

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

select * from finish();
rollback;
