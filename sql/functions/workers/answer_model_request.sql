-- Deploy qwf:functions/workers/answer_model_request
-- Purpose: Records how a request to load or unload a model ended, or how far it is.
-- Guarantees: Only the worker that took the request can answer it, and only until it has ended.
--   Keeps the last progress, at most 200 bytes of it.
-- Locks: the request.
-- Called by: agents, with progress at most once a second for each request.

begin;

create function qwf.answer_model_request(
  id bigint, worker text, error text default null, progress text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  update qwf.model_requests r set
    progress = coalesce(_qwf.clip(answer_model_request.progress, 200), r.progress),
    error = _qwf.clip(answer_model_request.error, 4096),
    answered_at = case
      when answer_model_request.progress is null or answer_model_request.error is not null
        then qwf.now() end
  where r.id = answer_model_request.id and r.taken_by = answer_model_request.worker
    and r.answered_at is null;
end $$;
comment on function qwf.answer_model_request is
  'Records that the worker has carried out a request about a model, or why it could not (error). '
  'With progress and without error it has not ended: progress says in words how far it is.';
call _qwf.allow('qwf.answer_model_request', 'qwf_worker');

commit;
