-- Deploy qwf:functions/shared/_new_token
-- Purpose: A token for one claim of one job.
-- Guarantees: 62 random bits, so a token of an earlier claim never fits a later one. The job id
--   stands in front, so that a heartbeat finds its rows by primary key and the token itself needs
--   no index.
-- Called by: _make_running.

begin;

create function _qwf.new_token(p_job_id bigint) returns uuid
language sql volatile
as $$
  select (lpad(to_hex(p_job_id), 16, '0') || right(gen_random_uuid()::text, 17))::uuid
$$;

commit;
