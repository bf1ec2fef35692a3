-- Deploy qwf:functions/times/_read_cron_field
-- Purpose: Returns the numbers that one field of a cron expression names.
-- Guarantees: Never raises. Sorted, each once. A range may wrap around the end of the field (22-2,
--   FRI-MON); a step continues across it.
-- Called by: _read_cron.

begin;

create function _qwf.read_cron_field(p_field text, p_low int, p_high int, p_names text[])
returns _qwf.cron_field
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_numbers int[] := '{}';
  v_span int := p_high - p_low + 1;
  v_top int := case when p_high = 6 then 7 else p_high end;
  v_part text;
  v_parts text[];
  v_low int;
  v_high int;
  v_step int;
begin
  if p_field = '*' then
    return row(array(select generate_series(p_low, p_high)), null::text);
  end if;
  foreach v_part in array string_to_array(lower(p_field), ',') loop
    v_parts := regexp_match(
      v_part, '^([*]|[0-9]{1,2}|[a-z]{3})(?:-([0-9]{1,2}|[a-z]{3}))?(?:/([0-9]{1,3}))?$');
    if v_parts is null or (v_parts[1] = '*' and v_parts[2] is not null) then
      return row(null::int[], format('%L is not a number, range, step or list', v_part));
    end if;
    if v_parts[1] = '*' then
      v_low := p_low;
      v_high := p_high;
    else
      v_low := case when v_parts[1] ~ '[0-9]' then v_parts[1]::int
        else array_position(p_names, v_parts[1]) - 1 + p_low end;
      v_high := case when v_parts[2] ~ '[0-9]' then v_parts[2]::int
        when v_parts[2] is not null then array_position(p_names, v_parts[2]) - 1 + p_low
        when v_parts[3] is not null then greatest(v_low, p_high)
        else v_low end;
      if v_low is null or v_high is null then
        return row(null::int[], format('%L is not a name of this field', v_part));
      end if;
    end if;
    v_step := coalesce(v_parts[3]::int, 1);
    if v_low not between p_low and v_top or v_high not between p_low and v_top then
      return row(null::int[], format('%L is not within %s to %s', v_part, p_low, v_top));
    elsif v_step not between 1 and v_span then
      return row(null::int[], format('%L has a step that is not within 1 to %s', v_part, v_span));
    end if;
    if v_low > p_high then  -- 7 is Sunday too: it ends a range as 7, else it counts as 0
      v_low := p_low;
      v_high := case
        when v_parts[2] is null and v_parts[3] is not null then p_high
        else v_high % v_span end;
    end if;
    v_high := v_high + case when v_high < v_low then v_span else 0 end;
    for v_number in v_low .. v_high by v_step loop
      v_numbers := v_numbers || (v_number - p_low) % v_span + p_low;
    end loop;
  end loop;
  if cardinality(v_numbers) > 1 then
    v_numbers := array(select n from generate_series(p_low, p_high) n where n = any (v_numbers));
  end if;
  return row(v_numbers, null::text);
end $$;

commit;
