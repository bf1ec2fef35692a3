-- Deploy qwf:functions/finish/_end_attempts
-- Purpose: Ends attempts: the one place where a running job stops running.
-- Guarantees: The fence: only a report with the job's current token changes anything
--   (_drop_completed, _write_completed; unless all reports say completed, _lock_attempts before
--   them). All rows of one call end together. Returns how many jobs ended, the runs whose events
--   wait in the outbox, and the tokens of jobs that left no row.
-- Locks: the jobs (by id), then what _apply_where_free locks without waiting.
-- Notifies: sleepers of the queues that got work back, or where jobs wait for a slot or a key.
-- Called by: finish_many, _reclaim, deregister_worker, _release_switched_off.

begin;

create function _qwf.end_attempts(
  p_reports _qwf.report[], p_all_completed boolean,
  out ended int, out pending bigint[], out dropped uuid[])
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
  v_held _qwf.held[];
  v_reports _qwf.report[] := p_reports;
  v_ids bigint[];
  v_dropped record;
  v_completed record;
  v_unusual _qwf.ended[];
  v_events _qwf.event[];
  v_keys _qwf.job_key[];
  v_others _qwf.ended[] := '{}';
begin
  if not p_all_completed then
    v_held := _qwf.lock_attempts(p_reports);
    v_reports := array(
      select (h.id, h.token, h.outcome, h.output, h.error, h.detail)::_qwf.report
      from unnest(v_held) h where h.outcome = 'completed');
  end if;
  if exists (select from qwf.queues q where not q.keep_completed) then
    v_dropped := _qwf.drop_completed(v_reports, v_now);
    v_ids := v_dropped.ids;
    dropped := v_dropped.tokens;
    v_keys := v_dropped.keys;
  end if;
  if v_reports <> '{}' and cardinality(v_ids) is distinct from cardinality(v_reports) then
    v_completed := _qwf.write_completed(v_reports, v_now);
    v_ids := v_ids || v_completed.ids;
    v_unusual := v_completed.unusual;
    v_events := v_completed.events;
    v_keys := v_keys || v_completed.keys;
  end if;
  if not p_all_completed then
    v_others := _qwf.write_uncompleted(v_held, v_now, (select s from qwf.settings s));
    perform _qwf.record_attempts(v_held, v_now);
  end if;
  if v_unusual is not null or v_others <> '{}' then
    perform _qwf.record_unusual(v_unusual || v_others, v_now);
  end if;
  if v_keys is not null or v_others <> '{}' then
    perform _qwf.wake_for_ended(v_keys, v_others);
  end if;
  ended := coalesce(cardinality(v_ids), 0) + cardinality(v_others);
  if exists (select from qwf.cancel_requests) or exists (select from qwf.limit_slots) then
    perform
      _qwf.forget_cancel_requests(v_ids || array(
        select e.id from unnest(v_others) e where e.status in ('failed', 'cancelled'))),
      _qwf.release_slots(v_ids || array(select e.id from unnest(v_others) e));
  end if;
  pending := '{}';
  if v_events is not null or v_others <> '{}' then
    pending := _qwf.apply_where_free(v_events || array(
      select (e.run_id, e.id, case
          when e.status in ('queued', 'scheduled') then 'requeued'
          when e.status = 'awaiting_input' then 'asked'
          else e.status::text end)::_qwf.event
      from unnest(v_others) e where e.run_id is not null));
  end if;
end $$;

commit;
