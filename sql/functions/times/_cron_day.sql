-- Deploy qwf:functions/times/_cron_day
-- Purpose: Returns the first day that a cron expression matches, from a given day on.
-- Guarantees: Steps by month, not by minute, and looks at most 41 years ahead: 29 February falls on
--   a given weekday at least every 40 years, and no other match is rarer. Null: never.
-- Called by: _cron_local, _timing_problems.

begin;

create function _qwf.cron_day(p_cron _qwf.cron, p_from date) returns date
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_months int[] := p_cron.months;
  v_days int[] := p_cron.days;
  v_weekdays int[] := p_cron.weekdays;
  v_either boolean := p_cron.either_day;
  v_year int := extract(year from p_from);
  v_last int := v_year + 41;
  v_month int := extract(month from p_from);
  v_day int := extract(day from p_from);
  v_first date;
  v_length int;
  v_weekday int;
  v_dom boolean;
  v_dow boolean;
begin
  while v_year <= v_last loop
    if v_month = any (v_months) then
      v_first := make_date(v_year, v_month, 1);
      v_length := (v_first + interval '1 month')::date - v_first;
      v_weekday := extract(dow from v_first);
      while v_day <= v_length loop
        v_dom := v_day = any (v_days);
        v_dow := (v_weekday + v_day - 1) % 7 = any (v_weekdays);
        if (v_dom and v_dow) or (v_either and (v_dom or v_dow)) then
          return v_first + (v_day - 1);
        end if;
        v_day := v_day + 1;
      end loop;
    end if;
    v_day := 1;
    v_year := v_year + v_month / 12;
    v_month := v_month % 12 + 1;
  end loop;
  return null;
end $$;

commit;
