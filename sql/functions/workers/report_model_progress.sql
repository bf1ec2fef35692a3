-- Deploy qwf:functions/workers/report_model_progress
-- Purpose: Records how far a request to load a model is.
-- Guarantees: Only the worker that took the request can report, and only until it has answered.
--   Keeps the last report, at most 200 bytes of it.
-- Locks: the request.
-- Called by: agents, at most once a second for each request.

begin;

create function qwf.report_model_progress(id bigint, worker text, progress text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  update qwf.model_requests r set progress = _qwf.clip(report_model_progress.progress, 200)
  where r.id = report_model_progress.id and r.taken_by = report_model_progress.worker
    and r.answered_at is null;
end $$;
comment on function qwf.report_model_progress is
  'Records how far a worker is with a request about a model, in words.';
call _qwf.allow('qwf.report_model_progress', 'qwf_worker');

commit;
