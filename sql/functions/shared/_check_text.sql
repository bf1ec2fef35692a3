-- Deploy qwf:functions/shared/_check_text
-- Purpose: Refuses a text that is too long to be stored.
-- Guarantees: 500 bytes, unless the caller says otherwise, fit into an index entry.
-- Raises: QW005.
-- Called by: functions that store a text of their caller.

begin;

create function _qwf.check_text(p_name text, p_value text, p_max_bytes int default 500)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if octet_length(p_value) > p_max_bytes then
    raise exception using errcode = 'QW005', message = 'text too long',
      detail = format('%s has %s bytes, at most %s', p_name, octet_length(p_value), p_max_bytes),
      hint = 'give a shorter text; for a long name, a digest of it';
  end if;
end $$;

commit;
