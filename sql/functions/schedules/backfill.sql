-- Deploy qwf:functions/schedules/backfill
-- Purpose: Fires a schedule for its times in the past: makes a schedule NAME.backfill.N with an
--   end.
-- Guarantees: Takes the definition of this moment: a later change of the schedule changes no
--   backfill. A number is not given twice while firings of it are kept. A notice tells how many
--   times have completed or are being worked on, which are left out.
-- Locks: creating schedules, until the end of the transaction; the schedule. Ticks skip it
--   meanwhile.
-- Raises: QW001 no such schedule, QW005 for invalid values.
-- Called by: administrators, qwf schedule backfill, the page.

begin;

create function qwf.backfill(
  name text, since timestamptz, until timestamptz, at_once int default 1,
  again boolean default false)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_new qwf.schedules;
  v_left_out text;
begin
  perform _qwf.take_lock('schedules');  -- before the schedule, as create_schedule does
  select s.* into v_new from qwf.schedules s where s.name = backfill.name for no key update;
  if not found then
    perform _qwf.raise_unknown_schedule(backfill.name);
  end if;
  perform _qwf.check_backfill(v_new, backfill.since, backfill.until, backfill.at_once, v_now);
  v_new := _qwf.as_backfill(v_new, backfill.since, backfill.until);
  v_new.at_once := backfill.at_once;
  v_new.again := coalesce(backfill.again, false);
  v_new.name := format('%s.backfill.%s', v_new.backfill_of, 1 + coalesce((
    select max(substring(n.name from '[0-9]+$')::numeric)
    from (
      select s.name from qwf.schedules s where s.backfill_of = v_new.backfill_of
      union
      select f.schedule from qwf.firings f
      where coalesce(f.backfill_of, f.schedule) = v_new.backfill_of and f.backfill_of is not null
        and f.outcome = 'fired') n), 0));
  select string_agg(format('%s %s', t.times, t.verdict), ', ' order by t.verdict) into v_left_out
  from (
    select d.verdict, count(*) as times
    from qwf.due_times(v_new.backfill_of, null, backfill.since, backfill.until, v_new.again) d
    where d.verdict <> 'fires'
    group by d.verdict) t;
  if v_left_out is not null then
    raise notice using
      message = format('of %s times are left out: %s', v_new.planned, v_left_out),
      hint = 'again => true fires also for times that have completed';
  end if;
  perform _qwf.store_schedule(v_new, v_now);
  return v_new.name;
end $$;
comment on function qwf.backfill is
  'Fires a schedule for its times from since on, before until, oldest first, with at most at_once '
  'jobs or runs unfinished; leaves out times that have completed, unless again is true. Returns '
  'the name of the schedule that does it, NAME.backfill.N, which is switched off, on and dropped '
  'as others are, and is off at its end. QW001 no such schedule, QW005 no or more than 10,000 '
  'times, or an until that lies ahead.';
call _qwf.allow('qwf.backfill', 'qwf_admin');

commit;
