-- Deploy qwf:functions/runs/_retry_or_poison_events
-- Purpose: Notes that the events of a run could not be applied, and gives them up in the end.
-- Guarantees: Tried again after 1, 2, 4, 8 seconds; the fifth failure poisons them and fails the
--   run.
-- Locks: expects the run locked by the caller.
-- Called by: _drain_run, _split_late_batch.

begin;

create function _qwf.retry_or_poison_events(p_run bigint, p_sqlstate text, p_error text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_error text := p_sqlstate || ' ' || p_error;
  -- a deadlock, a serialization failure, a lock that is held and a full disk are none of the run's
  -- doing: not counted
  v_counted boolean := left(p_sqlstate, 2) <> '40' and p_sqlstate not in ('53100', '55P03');
begin
  update qwf.outbox o set
    tries = o.tries + v_counted::int, error = v_error,
    next_try_at = v_now + interval '1 s' * 2 ^ o.tries,
    poisoned_at = case when o.tries + 1 >= s.event_tries and v_counted then v_now end
  from qwf.settings s
  where o.run_id = p_run and o.poisoned_at is null;
  if exists (select from qwf.outbox o where o.run_id = p_run and o.poisoned_at = v_now) then
    perform _qwf.fail_poisoned(p_run, v_error);
  end if;
end $$;

commit;
