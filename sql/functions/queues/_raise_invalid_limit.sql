-- Deploy qwf:functions/queues/_raise_invalid_limit
-- Purpose: Refuses a limit that cannot be, and says what a limit may be.
-- Raises: QW005.
-- Called by: create_limit.

begin;

create function _qwf.raise_invalid_limit(
  p_name text, p_max_running int, p_starts int, p_per interval)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'QW005', message = 'invalid limit',
    detail = concat_ws(', ', format('name %L', left(p_name, 200)), 'max_running ' || p_max_running,
      'starts ' || p_starts, 'per ' || p_per),
    hint = 'a name has 1 to 200 characters without blanks; give max_running (1 to 10000), or '
      'starts (1 to 10000; 0: any number) with per (0.01 s to 366 days), or both; '
      'to limit a queue: select qwf.create_queue(''gpu'', max_running => 2)';
end $$;

commit;
