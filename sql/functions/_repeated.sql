-- Deploy qwf:functions/_repeated
-- requires: schema/history
-- Purpose: Whether this very report was taken before.
-- Guarantees: Looks at the attempts of that one job; a token ends one attempt.
-- Called by: _conclude.

begin;

create function qwf._repeated(p_job_id bigint, p_token uuid, p_outcome text) returns boolean
language sql stable
as $$
  select exists (
    select from qwf.job_attempts a
    where a.job_id = p_job_id and a.token = p_token and a.outcome = p_outcome)
$$;
comment on function qwf._repeated(bigint, uuid, text) is
  'True where the attempt with that token ended with that outcome.';
revoke all on function qwf._repeated(bigint, uuid, text) from public;

commit;
