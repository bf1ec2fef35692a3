-- Deploy qwf:functions/_token_job
-- requires: functions/_new_token
-- Purpose: The job a token was made for.
-- Guarantees: Inverse of _new_token; a token made up elsewhere gives some id, whose row will not
--   carry that token.
-- Called by: heartbeat, _row_invariants.

begin;

create function qwf._token_job(p_token uuid) returns bigint
language sql immutable strict
as $$
  select ('x' || left(replace(p_token::text, '-', ''), 16))::bit(64)::bigint
$$;
comment on function qwf._token_job(uuid) is 'Job id that stands in front of a fencing token.';
revoke all on function qwf._token_job(uuid) from public;

commit;
