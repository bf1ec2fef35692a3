-- Deploy qwf:functions/shared/_check_key
-- Purpose: Refuses names that are too long for an index entry.
-- Raises: QW005.
-- Called by: _check_worker, enqueue_run, worker_control.

begin;

create function _qwf.check_key(p_where text, p_name text, p_value text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if octet_length(p_value) > 500 then
    raise exception using errcode = 'QW005', message = 'name too long',
      detail = format('%s%s: %s bytes, at most 500', p_where, p_name, octet_length(p_value)),
      hint = 'use a short name, or a digest of the long one';
  end if;
end $$;

commit;
