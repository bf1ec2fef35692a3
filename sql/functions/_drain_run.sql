-- Deploy qwf:functions/_drain_run
-- requires: schema/outbox
-- requires: schema/settings
-- requires: functions/_take_events
-- requires: functions/_apply
-- requires: functions/_fail_poisoned
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
set enable_material = off
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
      -- a deadlock or serialization failure is somebody else's doing: not counted
      tries = o.tries + (left(sqlstate, 2) <> '40')::int, error = v_error,
      next_try_at = v_now + interval '1 s' * 2 ^ o.tries,
      poisoned_at = case
        when o.tries + 1 >= s.event_tries and left(sqlstate, 2) <> '40' then v_now
      end
    from qwf.settings s
    where o.run_id = p_run and o.poisoned_at is null;
    if exists (select from qwf.outbox o where o.run_id = p_run and o.poisoned_at = v_now) then
      perform qwf._fail_poisoned(p_run, v_error);
    end if;
    return 0;
end $$;
comment on function qwf._drain_run(bigint) is
  'Applies the events of a locked run; counts, delays and in the end poisons those that fail.';
revoke all on function qwf._drain_run(bigint) from public;

commit;
