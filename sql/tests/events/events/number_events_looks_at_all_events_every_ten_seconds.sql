-- 5 tests
-- Between two looks at all events, it passes those that were numbered long ago: an event whose
-- transaction was open for longer waits for the next look.
create function pg_temp.numbers(p_travel interval) returns bigint language plpgsql as $$
begin
  perform qwf_test.travel(p_travel);
  perform _qwf.number_events();
  return (select last_seq from _qwf.event_numbers);
end $$;

select qwf_test.set_now('2030-01-01');
insert into _qwf.event_log (kind) select 'lost' from generate_series(1, 5);
select is(pg_temp.numbers('0 s'), 5::bigint, 'the first look is at all');
select is(pg_temp.numbers('11 s'), 5::bigint, 'and so is this one: the floor is the last id');
update _qwf.event_log set seq = null where seq = 1;  -- as if it had been committed just now
update _qwf.event_numbers set last_seq = 5;
select is(pg_temp.numbers('9 s'), 5::bigint, 'below the floor it is not found');
select is(pg_temp.numbers('2 s'), 6::bigint, 'until all are looked at');
select qwf_test.set_now('2029-01-01');
insert into _qwf.event_log (kind) values ('lost');
select is(pg_temp.numbers('0 s'), 7::bigint, 'also after the clock was set back');
