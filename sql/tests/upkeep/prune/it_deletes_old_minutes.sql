-- 5 tests
select qwf_test.set_now('2040-01-01');
insert into qwf.host_minutes (host, minute, samples)
select 'a', qwf.now() - g * interval '1 day', 1 from generate_series(12, 17) g;
insert into qwf.queue_minutes (queue, minute)
select 'cpu', qwf.now() - g * interval '1 day' from generate_series(12, 17) g;
select is((qwf.prune(2) ->> 'minutes')::int, 4, 'no more than asked for of each');
select is((qwf.prune() ->> 'minutes')::int, 2, 'all that are older than 14 days');
select results_eq('select minute from qwf.host_minutes union all
  select minute from qwf.queue_minutes order by 1', $$
  values ('2039-12-18'::timestamptz), ('2039-12-18'), ('2039-12-19'), ('2039-12-19'),
    ('2039-12-20'), ('2039-12-20') $$, 'the newer ones stay');
select qwf.change_settings('{"minutes_keep": "13 days"}');
select is((qwf.prune() ->> 'minutes')::int, 2, 'how long is a setting');
select qwf.change_settings('{"minutes_keep": "1 s"}'), qwf_test.travel('59 s');
select qwf.tick();
select is((select count(*) from qwf.queue_minutes where minute = '2040-01-01'),
  (select count(*) from qwf.queue_overview), 'the minute that is not over stays');
