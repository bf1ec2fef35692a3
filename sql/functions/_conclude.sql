-- Deploy qwf:functions/_conclude
-- Purpose: Ends attempts: the one place where a running job stops running.
-- Guarantees: The fence: only a report with the job's current token changes anything (_hold). All
--   rows of one call end together.
-- Locks: the jobs (by id), then whatever _dispatch locks without waiting.
-- Notifies: sleepers of the queues that got work back.
-- Called by: finish_many, reclaim, deregister_worker.

begin;

create function qwf._conclude(p_reports qwf.report[]) returns setof qwf.report_verdict
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_settings qwf.settings;
  v_held qwf.held[] := qwf._hold(p_reports);
  v_ended qwf.ended[];
  v_left bigint[];
begin
  select s.* into v_settings from qwf.settings s;
  v_ended := qwf._complete(v_held, v_now);
  if cardinality(v_ended) < cardinality(v_held) then
    v_ended := v_ended || qwf._retire(v_held, v_now, v_settings);
    perform qwf._wake(e.queue, count(*)::int)
    from unnest(v_ended) e
    where e.status = 'queued'
    group by e.queue;
  end if;
  perform qwf._record_attempts(v_ended, v_now, v_settings), qwf._release_slots(v_ended);
  v_left := qwf._dispatch(array(
    select (e.run_id, e.id, qwf._event_kind(e.status))::qwf.event
    from unnest(v_ended) e where e.run_id is not null));
  return query select * from qwf._verdicts(p_reports, v_ended, v_left);
end $$;
revoke all on function qwf._conclude from public;

commit;
