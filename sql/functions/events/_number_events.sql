-- Deploy qwf:functions/events/_number_events
-- Purpose: Gives numbers to the events that have none, and tells listeners the last number.
-- Guarantees: Numbers grow by one and never change: it locks the row of numbers first, and reads
--   events in later statements, which see what the last one has numbered. It commits durably,
--   whatever the session says: a crash never gives a number again that was read. If the timeline of
--   the server is a new one, events_restarted comes first. Stops at p_rows or after p_ms, and then
--   returns the size of a batch; else all are numbered, and it returns at most 99. It passes the
--   entries of events that were numbered 10 to 20 seconds ago; what a transaction that was open for
--   longer than that commits is found by a look at all, every 10 seconds.
-- Locks: the row of event_numbers; while another transaction has it, it does nothing.
-- Notifies: qwf_events, with the last number.
-- Called by: _number_and_match.

begin;

create function _qwf.number_events(p_rows int default 5000, p_ms int default 300) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_batch constant int := 1000;
  v_began timestamptz := qwf.now();
  v_timeline text := left(pg_walfile_name(pg_current_wal_lsn()), 8);
  v_last_id bigint := coalesce(pg_sequence_last_value('_qwf.event_log_id_seq'), 0);
  v_numbers _qwf.event_numbers;
  v_last bigint;
  v_all boolean;
  v_low bigint;
  v_count int;
begin
  select n.* into v_numbers from _qwf.event_numbers n for no key update skip locked;
  if not found then
    return 0;
  end if;
  if v_numbers.timeline <> v_timeline then
    v_numbers.last_seq := _qwf.restart_events('failover');
  end if;
  v_last := v_numbers.last_seq;
  v_all := coalesce(
    v_began not between v_numbers.looked_at and v_numbers.looked_at + interval '10 s', true);
  v_low := case when v_all then 0 else v_numbers.floor_id end;
  perform set_config('synchronous_commit', 'on', true)
  where current_setting('synchronous_commit') in ('off', 'local');
  loop
    v_count := _qwf.number_batch(v_low, v_last, v_batch);
    v_last := v_last + v_count;
    exit when v_count < v_batch or v_last >= v_numbers.last_seq + p_rows
      or qwf.now() > v_began + p_ms * interval '1 ms';
  end loop;
  if v_last > v_numbers.last_seq then
    update _qwf.event_numbers n set last_seq = v_last;
    perform pg_notify('qwf_events', v_last::text);
  end if;
  if v_all and v_count < v_batch
    and current_setting('transaction_isolation') = 'read committed'  -- it has seen all
  then
    update _qwf.event_numbers n set
      looked_at = v_began, floor_id = n.mark_id, mark_id = v_last_id, timeline = v_timeline;
  end if;
  return case when v_count = v_batch then v_batch
    else least(v_last - v_numbers.last_seq, 99) end;
end $$;

commit;
