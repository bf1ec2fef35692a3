-- Deploy qwf:functions/shared/_new_token
-- Purpose: Makes a token for one claim of one job.
-- Guarantees: Has 62 random bits, so that the token of an earlier claim never matches a later one.
--   Starts with the job id, so that a heartbeat finds its rows by primary key and tokens need no
--   index.
-- Called by: _make_running.

begin;

create function _qwf.new_token(p_job_id bigint) returns uuid
language sql volatile
as $$
  select (lpad(to_hex(p_job_id), 16, '0') || right(gen_random_uuid()::text, 17))::uuid
$$;

commit;
