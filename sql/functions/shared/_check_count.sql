-- Deploy qwf:functions/shared/_check_count
-- Purpose: Refuses a negative number of rows.
-- Raises: QW005.
-- Called by: busiest_keys, drain_outbox, first_in_line, prune.

begin;

create function _qwf.check_count(p_name text, p_count int) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_count < 0 then
    raise exception using errcode = 'QW005', message = 'negative number of rows',
      detail = format('%s %s', p_name, p_count), hint = 'give 0 or more';
  end if;
end $$;

commit;
