-- 4 tests
select qwf_test.set_now('2040-01-01 10:00:59');
select qwf.enqueue('t', queue => 'cpu'), qwf.report_metrics('a', '{"cpu_percent": 7}');
create temp table done as select qwf.tick() as v;
select is((v ->> 'recorded')::bigint, (select count(*) from qwf.queue_overview), 'each queue')
  from done;
select qwf_test.travel('1 s');
update done set v = qwf.tick();
select is((v ->> 'recorded')::bigint, (select count(*) + 1 from qwf.queue_overview),
  'in the next minute again, and the host of the minute before') from done;
update done set v = qwf.tick();
select is(v -> 'recorded', '0', 'once') from done;
select set_eq($$ select minute, queued, null from qwf.queue_minutes where queue = 'cpu'
  union all select minute, null, cpu_percent from qwf.host_minutes $$, $$
  values ('2040-01-01 10:00'::timestamptz, 1, null::real), ('2040-01-01 10:01', 1, null),
    ('2040-01-01 10:00', null, 7) $$, 'and this is what is kept');
