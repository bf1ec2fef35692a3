-- Deploy qwf:functions/shared/_job_of_token
-- Purpose: The job a token was made for.
-- Guarantees: Inverse of _new_token; a token made up elsewhere gives some id, whose row will not
--   carry that token.
-- Called by: heartbeat, _row_invariants.

begin;

create function _qwf.job_of_token(p_token uuid) returns bigint
language sql immutable strict
as $$
  select ('x' || left(replace(p_token::text, '-', ''), 16))::bit(64)::bigint
$$;

commit;
