-- Deploy qwf:functions/search/_error_contains
-- Purpose: True when a text is in the first 10,000 characters of an error.
-- Guarantees: Does not count the characters of an error that is short anyway, because that takes
--   longer than the search. Without a pinned search_path, so that the planner inlines it.
-- Called by: _job_matches, _run_matches.

begin;

create function _qwf.error_contains(p_error text, p_text text) returns boolean
language sql immutable parallel safe
as $$
  select strpos(
    case when octet_length(p_error) > 10000 then left(p_error, 10000) else p_error end, p_text) > 0
$$;

commit;
