-- Deploy qwf:functions/schedules/next_times
-- Purpose: Says when a schedule is due next, several times ahead.
-- Guarantees: No rows while it is disabled, and fewer than asked for if it is due less often.
-- Raises: QW001 no such schedule, QW005 more than 100 times asked for.

begin;

create function qwf.next_times(name text, times int default 5) returns setof timestamptz
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_schedule qwf.schedules;
  v_next timestamptz;
begin
  if next_times.times is null or next_times.times not between 1 and 100 then
    raise exception using errcode = 'QW005', message = 'value out of range',
      detail = format('times: %s', next_times.times), hint = 'ask for 1 to 100 times';
  end if;
  select s.* into v_schedule from qwf.schedules s where s.name = next_times.name;
  if not found then
    perform _qwf.raise_unknown_schedule(next_times.name);
  end if;
  v_next := v_schedule.next_at;
  for v_place in 1 .. next_times.times loop
    exit when v_next is null;
    return next v_next;
    v_next := _qwf.next_fire(v_schedule, v_next);
  end loop;
end $$;
comment on function qwf.next_times is
  'When an enabled schedule is due next, several times ahead; QW001 no such schedule.';
call _qwf.allow('qwf.next_times', 'qwf_viewer');

commit;
