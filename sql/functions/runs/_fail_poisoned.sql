-- Deploy qwf:functions/runs/_fail_poisoned
-- Purpose: Fails a run one of whose events could not be applied.
-- Guarantees: The run ends with the reason even where its nodes cannot be stopped just now: that is
--   tried again.
-- Locks: expects the run locked by the caller.
-- Called by: _retry_or_poison_events.

begin;

create function _qwf.fail_poisoned(p_run bigint, p_error text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
begin
  insert into qwf.job_events (at, run_id, type, actor, detail)
  values (v_now, p_run, 'poisoned', session_user, jsonb_build_object('error', p_error));
  if _qwf.end_run(p_run, 'failed', 'an event could not be applied: ' || p_error, true) then
    begin
      perform _qwf.cancel_obsolete(array[p_run]);
    exception
      when others then
        insert into qwf.outbox (run_id, kind, error) values (p_run, 'stop', sqlerrm);
    end;
  end if;
end $$;

commit;
