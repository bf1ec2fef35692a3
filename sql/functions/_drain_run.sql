-- Deploy qwf:functions/_drain_run
-- requires: schema/outbox
-- requires: schema/runs
-- requires: schema/history
-- requires: schema/settings
-- requires: functions/_take_events
-- requires: functions/_apply
-- requires: functions/_stop_nodes
-- requires: functions/now
-- Purpose: Applies the events of one run, and keeps account of events that fail.
-- Guarantees: A failing event waits 1, 2, 4 ... seconds; after the last try it is poisoned and its
--   run fails with the reason.
-- Locks: expects the run locked by the caller.
-- Called by: drain_outbox.

begin;

create function qwf._drain_run(p_run bigint) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_events qwf.event[];
  v_error text;
begin
  v_events := qwf._take_events(array[p_run]);
  perform qwf._apply(v_events);
  return cardinality(v_events);
exception
  when others then
    v_error := sqlstate || ' ' || sqlerrm;
    update qwf.outbox o set
      tries = o.tries + 1, error = v_error, next_try_at = v_now + interval '1 s' * 2 ^ o.tries,
      poisoned_at = case when o.tries + 1 >= s.event_tries then v_now end
    from qwf.settings s
    where o.run_id = p_run and o.poisoned_at is null;
    if exists (select from qwf.outbox o where o.run_id = p_run and o.poisoned_at = v_now) then
      insert into qwf.job_events (at, run_id, type, actor, detail)
      values (v_now, p_run, 'poisoned', session_user, jsonb_build_object('error', v_error));
      update qwf.runs r set
        status = 'failed', finished_at = v_now, error = 'an event could not be applied: ' || v_error
      where r.id = p_run and r.finished_at is null;
      perform qwf._stop_nodes(array[p_run]);
    end if;
    return 0;
end $$;
comment on function qwf._drain_run(bigint) is
  'Applies the events of a locked run; counts, delays and in the end poisons those that fail.';
revoke all on function qwf._drain_run(bigint) from public;

commit;
