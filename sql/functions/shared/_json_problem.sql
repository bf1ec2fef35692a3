-- Deploy qwf:functions/shared/_json_problem
-- Purpose: Returns why a JSON value is not stored, as it is too large or nested too deeply; or
--   null.
-- Guarantees: Never raises. A value nested 500 levels deep has at least 1000 bytes, so most values
--   are only measured. The text is what counts: one byte can be six bytes as text. It is not built
--   for a value that is far too large: it could be longer than a text can be. A number such as
--   1e131071 is ten thousand times longer as text; a text that Postgres cannot hold is too large. A
--   value from a table is decompressed first (by #>, which copies nothing else), as it can be a
--   hundredth of its size. A deeper value could be stored, but a function that walks it could run
--   out of stack, and so could clients.
-- Called by: _backoff_seconds, _check_json, _kept_detail, _read_reports, _record_unusual,
--   _work_problems.

begin;

create function _qwf.json_problem(p_value jsonb, p_max_bytes bigint) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_size int := pg_column_size(p_value #> '{}');
  v_bytes int;
begin
  if v_size <= 10000 then
    v_bytes := octet_length(p_value::text);
  elsif v_size <= 16 * p_max_bytes then  -- a number is up to eight times its text
    begin
      v_bytes := octet_length(p_value::text);
    exception
      when program_limit_exceeded then
        null;
    end;
  end if;
  if v_bytes is null and p_value is not null then
    return format('has more than %s bytes', p_max_bytes);
  elsif v_bytes > p_max_bytes then
    return format('has %s bytes, at most %s', v_bytes, p_max_bytes);
  elsif v_bytes > 1000 and jsonb_path_exists(p_value, 'lax $.**{500}') then
    return 'is nested too deeply, at most 499 levels';
  end if;
  return null;
end $$;

commit;
