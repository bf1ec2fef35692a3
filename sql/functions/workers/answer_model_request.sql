-- Deploy qwf:functions/workers/answer_model_request
-- Purpose: Records how a request to load or unload a model ended.
-- Guarantees: Only the worker that took the request can answer it, and only once.
-- Locks: the request.

begin;

create function qwf.answer_model_request(id bigint, worker text, error text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  update qwf.model_requests r set
    answered_at = qwf.now(), error = _qwf.clip(answer_model_request.error, 4096)
  where r.id = answer_model_request.id and r.taken_by = answer_model_request.worker
    and r.answered_at is null;
end $$;
comment on function qwf.answer_model_request is
  'Records that the worker has carried out a request about a model, or why it could not.';
call _qwf.allow('qwf.answer_model_request', 'qwf_worker');

commit;
