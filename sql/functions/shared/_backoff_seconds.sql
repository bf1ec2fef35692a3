-- Deploy qwf:functions/shared/_backoff_seconds
-- Purpose: Returns the wait before the n-th retry.
-- Guarantees: Never raises; null for an invalid backoff, or one of more than 4 KiB of text. Without
--   jitter: the caller adds it.
-- Called by: _check_run, _checked, _job_problem, _read_settings, _transition.

begin;

create function _qwf.backoff_seconds(p_backoff jsonb, p_failures int) returns double precision
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_last int;
  v_base double precision;
  v_factor double precision;
begin
  if _qwf.json_problem(p_backoff, 4096) is not null then
    return null;
  elsif jsonb_typeof(p_backoff) = 'array' then
    v_last := jsonb_array_length(p_backoff) - 1;
    if v_last < 0 or exists (
      select from jsonb_array_elements(p_backoff) e
      where jsonb_typeof(e.value) <> 'number' or case when jsonb_typeof(e.value) = 'number' then
        e.value::numeric not between 0 and 31536000 end
    ) then
      return null;
    end if;
    return round((p_backoff -> least(greatest(p_failures, 1) - 1, v_last))::numeric, 6);
  elsif jsonb_typeof(p_backoff) = 'object' then
    if p_backoff - '{base,factor,max}'::text[] <> '{}' or not p_backoff ? 'base' or exists (
      select from jsonb_each(p_backoff) e
      where jsonb_typeof(e.value) <> 'number' or case when jsonb_typeof(e.value) = 'number' then
        e.value::numeric not between 0 and 31536000 end
    ) then
      return null;
    end if;
    v_base := round((p_backoff -> 'base')::numeric, 6);
    v_factor := greatest(coalesce((p_backoff -> 'factor')::numeric, 2), 1);
    return least(
      v_base * v_factor ^ least(p_failures - 1, 24 / log(greatest(v_factor, 1.1)::numeric)),
      coalesce(round((p_backoff -> 'max')::numeric, 6), 31536000));
  end if;
  return null;
end $$;

commit;
