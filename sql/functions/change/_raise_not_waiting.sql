-- Deploy qwf:functions/change/_raise_not_waiting
-- Purpose: Raises why a job cannot be changed: there is none, or it does not wait in a queue.
-- Raises: QW001, QW002; always one of them.
-- Called by: change_job, _change_notify.

begin;

create function _qwf.raise_not_waiting(p_job_id bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_why qwf.job_verdict;
begin
  select r.* into v_why from _qwf.refusals('change', array[p_job_id], '{}') r;
  raise exception using errcode = v_why.code, message = v_why.message,
    detail = v_why.detail, hint = v_why.hint;
end $$;

commit;
