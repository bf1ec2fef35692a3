-- Deploy qwf:functions/times/_read_cron
-- Purpose: Reads a cron expression: minute, hour, day of month, month, day of week, or one of the @
--   names.
-- Guarantees: Never raises: problems has at most one problem for each field. Combines the two day
--   fields as Vixie cron does: if one of them begins with *, a day must match both; else a day must
--   match either.
-- Called by: _cron_of, _timing_problems.

begin;

create function _qwf.read_cron(p_expression text) returns _qwf.cron
language plpgsql immutable strict
set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := btrim(left(p_expression, 1000), E' \t');
  v_fields text[] := regexp_split_to_array(case lower(v_text)
    when '@hourly' then '0 * * * *'
    when '@daily' then '0 0 * * *'
    when '@midnight' then '0 0 * * *'
    when '@weekly' then '0 0 * * 0'
    when '@monthly' then '0 0 1 * *'
    when '@yearly' then '0 0 1 1 *'
    when '@annually' then '0 0 1 1 *'
    else v_text
  end, E'[ \t]+');
  v_names constant text[] := array['minute', 'hour', 'day of month', 'month', 'day of week'];
  v_read _qwf.cron_field[];
  v_cron _qwf.cron;
begin
  if cardinality(v_fields) <> 5 or length(v_text) > 500 then
    v_cron.problems := array[row('cron', format('%L does not have five fields', left(v_text, 100)),
      'write minute, hour, day of month, month and day of week, such as ''30 3 * * MON-FRI'', '
      'or @hourly, @daily, @weekly, @monthly, @yearly; for seconds use every')::_qwf.problem];
    return v_cron;
  end if;
  v_read := array[
    _qwf.read_cron_field(v_fields[1], 0, 59, null),
    _qwf.read_cron_field(v_fields[2], 0, 23, null),
    _qwf.read_cron_field(v_fields[3], 1, 31, null),
    _qwf.read_cron_field(v_fields[4], 1, 12, '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}'),
    _qwf.read_cron_field(v_fields[5], 0, 6, '{sun,mon,tue,wed,thu,fri,sat}')];
  v_cron.minutes := v_read[1].numbers;
  v_cron.hours := v_read[2].numbers;
  v_cron.days := v_read[3].numbers;
  v_cron.months := v_read[4].numbers;
  v_cron.weekdays := v_read[5].numbers;
  v_cron.either_day := not (starts_with(v_fields[3], '*') or starts_with(v_fields[5], '*'));
  v_cron.repeats := starts_with(v_fields[2], '*') or cardinality(v_cron.hours) = 24;
  v_cron.problems := '{}';
  for v_field in 1..5 loop
    if v_read[v_field].problem is not null then
      v_cron.problems := v_cron.problems || row(
        'cron ' || v_names[v_field], v_read[v_field].problem,
        'write *, a number, a range (9-17), a step (*/15, 5/20, 8-18/2) or a list of these (0,30); '
        'months and days of the week have names (JAN, MON)')::_qwf.problem;
    end if;
  end loop;
  return v_cron;
end $$;

commit;
