-- 3 tests
-- now() minus or plus a setting is still a time: else every report or tick would fail.
create function pg_temp.longest(p_column name) returns interval
language plpgsql
as $$
declare
  v_time interval;
begin
  foreach v_time in array
    '{1000000 years,1001 years,1000 years,367 days,366 days,1 day}'::interval[]
  loop
    begin
      execute format('update qwf.settings set %I = %L', p_column, v_time);
      return v_time;
    exception
      when check_violation then
        continue;
    end;
  end loop;
end $$;

select is_empty($$
  select a.attname, pg_temp.longest(a.attname) from pg_attribute a
  where a.attrelid = 'qwf.settings'::regclass and a.atttypid = 'interval'::regtype
    and pg_temp.longest(a.attname) > '366 days' and a.attname not in ('retention', 'events_keep')
$$, 'no time is longer than a year');
select is(pg_temp.longest('retention'), '1000 years', 'except the retention');
select qwf.enqueue('a');
select qwf_test.set_now('2040-01-01');  -- later than other tests: what tick notes outlives this
select is(qwf.tick() -> 'errors', null, 'with all of them at their longest it ticks');
