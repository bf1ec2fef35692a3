-- Deploy qwf:functions/runs/_retry_or_poison_events
-- Purpose: Schedules the next try of a run's events that could not be applied, and after the last
--   try poisons them and fails the run.
-- Guarantees: Tries again after 1, 2, 4, 8 seconds; the fifth failure is the last. An error that
--   the run did not cause is not counted. The run ends with the reason even if its nodes cannot be
--   stopped now: a stop event tries that again.
-- Locks: the caller has locked the run.
-- Called by: drain_outbox, _split_late_batch.

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
  v_counted boolean := not _qwf.is_passing_error(p_sqlstate);
begin
  update qwf.outbox o set
    tries = o.tries + v_counted::int, error = v_error,
    next_try_at = v_now + interval '1 s' * 2 ^ o.tries,
    poisoned_at = case when o.tries + 1 >= s.event_tries and v_counted then v_now end
  from qwf.settings s
  where o.run_id = p_run and o.poisoned_at is null;
  if exists (select from qwf.outbox o where o.run_id = p_run and o.poisoned_at = v_now) then
    insert into _qwf.event_log (at, run_id, kind, detail)
    values (v_now, p_run, 'poisoned', jsonb_build_object('error', v_error));
    if _qwf.end_run(p_run, 'failed', 'an event could not be applied: ' || v_error, true) then
      insert into qwf.outbox (run_id, kind)  -- tells the run above
      select p_run, 'stop' from qwf.runs r where r.id = p_run and r.parent_id is not null;
      begin
        perform _qwf.cancel_obsolete(array[p_run]);
      exception
        when others then
          insert into qwf.outbox (run_id, kind, error) values (p_run, 'stop', sqlerrm);
      end;
    end if;
  end if;
end $$;

commit;
