-- Deploy qwf:functions/shared/_refuse_engine_name
-- Purpose: Refuses a name that the engine keeps for itself: the queue of runs, its own worker.
-- Raises: QW007.
-- Called by: create_queue, deregister_worker, heartbeat, withdraw_worker, _check_claim, _check_job,
--   _check_worker, _raise_unknown_queue.

begin;

create function _qwf.refuse_engine_name(p_what text, p_name text) returns void
language plpgsql volatile  -- so that the planner never runs it
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'QW007',
    message = 'names that begin with qwf. belong to the engine',
    detail = format('%s %L', p_what, left(p_name, 200)), hint = 'use another name';
end $$;

commit;
