-- Deploy qwf:functions/shared/_clip
-- Purpose: Cuts a long text in the middle: its head and tail say most.
-- Guarantees: At most about p_max_bytes bytes in the database encoding; returns shorter text
--   unchanged.
-- Called by: _enqueue_scheduled, _first_problems, _map_verdict, _raise_problems, _read_reports,
--   _report_runs, _resolution_error, answer_model_request, report_broken_server.

begin;

create function _qwf.clip(p_text text, p_max_bytes int) returns text
language sql immutable strict
as $$
  select case
    when octet_length(p_text) <= p_max_bytes then p_text
    else left(p_text, k.chars) || E'\n... cut ...\n' || right(p_text, k.chars)
  end
  from (select (length(p_text) * (p_max_bytes - 32.0) / (2 * octet_length(p_text)))::int as chars) k
$$;

commit;
