-- Log-normal, even and bimodal times, from 40 microseconds to days.
select setseed(0.5);
create temp table measured as
select
  t.task,
  array_agg(exp(5 * (random() + random() + random() - 1.5))::real) as waits,
  array_agg(case t.task
    when 'even' then 100 * random()
    when 'bimodal' then case when random() < 0.5 then 0.02 else 7000 end * (1 + random())
    else exp(22 * random() - 10)
  end::real) as runs
from unnest(array['even', 'bimodal', 'wide']) t (task), generate_series(1, 5000)
group by t.task;
insert into qwf.attempt_counts
select '2030-01-01', 'cpu', m.task, 'completed', m.waits[n:n + 499], m.runs[n:n + 499]
from measured m, generate_series(1, 5000, 500) n;
select _qwf.roll_up_counts();
select is_empty($$
  select s.task, p.found, e.exact
  from qwf.job_stats s
  join measured m on m.task = s.task
  cross join lateral (
    select percentile_disc(array[0.5, 0.9, 0.99]) within group (order by w.wait) as waits,
      percentile_disc(array[0.5, 0.9, 0.99]) within group (order by w.run) as runs
    from unnest(m.waits, m.runs) w (wait, run)
  ) d
  cross join lateral unnest(
    array[s.wait_p50, s.wait_p90, s.wait_p99, s.run_p50, s.run_p90, s.run_p99],
    d.waits || d.runs) p (found, exact)
  cross join lateral (select round(p.exact::numeric, 3)) e (exact)
  where abs(p.found - e.exact) > 0.1 * e.exact + 0.001 or s.count <> 5000
$$, 'whatever the distribution');
