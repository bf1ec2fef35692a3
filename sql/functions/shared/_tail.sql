-- Deploy qwf:functions/shared/_tail
-- Purpose: Returns the end of a long text: the last lines of a log say most.
-- Guarantees: At most about p_max_bytes bytes in the database encoding; returns shorter text
--   unchanged.
-- Called by: _write_ends, report_log.

begin;

create function _qwf.tail(p_text text, p_max_bytes int) returns text
language sql immutable strict
as $$
  select case
    when octet_length(p_text) <= p_max_bytes then p_text
    else right(p_text, (length(p_text) * p_max_bytes::numeric / octet_length(p_text))::int)
  end
$$;

commit;
