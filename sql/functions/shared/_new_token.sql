-- Deploy qwf:functions/shared/_new_token
-- Purpose: Makes a token for one claim of one job.
-- Guarantees: 64 bits follow from the job id and a secret that only this claim has, so that the
--   token of an earlier claim never matches a later one, and nobody can tell a token from those of
--   other jobs. A random number for each job would cost a system call where Postgres is built
--   without OpenSSL. Starts with the job id, so that a heartbeat finds its rows by primary key and
--   tokens need no index.
-- Called by: claim, _start_attempts.

begin;

create function _qwf.new_token(p_job_id bigint, p_secret bytea) returns uuid
language sql immutable
as $$
  select encode(
    int8send(p_job_id) || substr(sha256(p_secret || int8send(p_job_id)), 1, 8), 'hex')::uuid
$$;

commit;
