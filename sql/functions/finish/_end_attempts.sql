-- Deploy qwf:functions/finish/_end_attempts
-- Purpose: Ends attempts: the one place where a running job stops running.
-- Guarantees: The fence: only a report with the job's current token changes anything
--   (_lock_attempts). All rows of one call end together.
-- Locks: the jobs (by id), then what _apply_where_free locks without waiting.
-- Notifies: sleepers of the queues that got work back.
-- Called by: _take_reports, reclaim, deregister_worker.

begin;

create function _qwf.end_attempts(p_reports _qwf.report[]) returns setof qwf.report_verdict
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
  v_held _qwf.held[] := _qwf.lock_attempts(p_reports);
  v_ended _qwf.ended[];
  v_left bigint[];
begin
  select s.* into v_settings from qwf.settings s;
  v_ended := _qwf.write_completed(v_held, v_now);
  if cardinality(v_ended) < cardinality(v_held) then
    v_ended := v_ended || _qwf.write_uncompleted(v_held, v_now, v_settings);
    perform _qwf.wake(e.queue, count(*)::int)
    from unnest(v_ended) e
    where e.status = 'queued'
    group by e.queue;
  end if;
  perform _qwf.record_attempts(v_ended, v_now, v_settings), _qwf.release_slots(v_ended);
  v_left := _qwf.apply_where_free(array(
    select (e.run_id, e.id, case
        when e.status in ('queued', 'scheduled') then 'requeued'
        when e.status = 'awaiting_input' then 'asked'
        else e.status::text end)::_qwf.event
    from unnest(v_ended) e where e.run_id is not null));
  return query select * from _qwf.answer_reports(p_reports, v_ended, v_left);
end $$;

commit;
