-- Deploy qwf:functions/times/_timing_problems
-- Purpose: Returns what is wrong with the times of a schedule.
-- Guarantees: Reports all problems at once. A schedule without problems is due some day.
-- Called by: _schedule_problems.

begin;

create function _qwf.timing_problems(p_schedule qwf.schedules) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_zone text := p_schedule.timezone;
  v_cron _qwf.cron := _qwf.read_cron(p_schedule.cron);
begin
  return query
    select rule.path, rule.problem, rule.hint
    from (values
      ('cron', num_nonnulls(p_schedule.cron, p_schedule.minute, p_schedule.every) <> 1,
        'give exactly one of cron, minute and every',
        'cron => ''30 3 * * *'', or minute => 30, hours => ''{3}'', or every => ''37 minutes'''),
      ('minute', p_schedule.minute not between 0 and 59, 'must be within 0 to 59', null),
      ('hours', p_schedule.hours is not null and p_schedule.minute is null,
        'have no effect without minute', null),
      ('hours', cardinality(p_schedule.hours) = 0, 'must not be empty: that would never fire',
        'leave hours out for every hour'),
      ('hours',
        exists (select from unnest(p_schedule.hours) h where (h between 0 and 23) is not true),
        'must be within 0 to 23', null),
      ('every', not _qwf.is_duration(p_schedule.every, '366 days', p_least => '1 s'),
        'must be within 1 second to 366 days', null),
      ('every',
        extract(year from p_schedule.every) <> 0 or extract(month from p_schedule.every) <> 0,
        'months differ in length', 'use cron => ''0 0 1 * *'' for the first of each month'),
      ('anchor', p_schedule.anchor is not null and p_schedule.every is null,
        'has no effect without every', null),
      ('anchor', not (isfinite(p_schedule.anchor) and _qwf.is_readable_time(p_schedule.anchor)),
        'must be a time within the years 1 to 9999', null)
    ) rule (path, violated, problem, hint)
    where rule.violated;
  return query select p.* from unnest(v_cron.problems) p;
  if cardinality(v_cron.problems) = 0 and _qwf.cron_day(v_cron, date '2000-01-01') is null then
    return query select
      'cron', 'never matches a day', 'check the day of month and the month';
  end if;
  if _qwf.is_timezone(v_zone) is not true then
    return query select
      'timezone', format('%L is not a time zone of this server', left(v_zone, 200)), coalesce(
        _qwf.did_you_mean(v_zone, array(select n.name from pg_timezone_names n)),
        'use a name such as Europe/Berlin: select name from pg_timezone_names');
  end if;
end $$;

commit;
