-- Deploy qwf:functions/shared/_tail
-- Purpose: The end of a long text: of a log, the last lines tell most.
-- Guarantees: At most about p_max_bytes bytes in the database encoding; shorter text comes back as
--   it is.
-- Called by: _record_attempts, report_log.

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
