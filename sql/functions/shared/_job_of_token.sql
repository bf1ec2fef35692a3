-- Deploy qwf:functions/shared/_job_of_token
-- Purpose: Returns the job that a token was made for.
-- Guarantees: Inverse of _new_token; an invented token gives some id, but the row of that job has
--   another token.
-- Called by: _answer_reports, _end_attempts, _release_switched_off, _row_invariants, heartbeat.

begin;

create function _qwf.job_of_token(p_token uuid) returns bigint
language sql immutable strict
as $$
  select ('x' || left(replace(p_token::text, '-', ''), 16))::bit(64)::bigint
$$;

commit;
