-- Deploy qwf:functions/events/_restart_events
-- Purpose: Writes the event events_restarted with a number a million above the last one, and
--   returns that number: after a failover or a restore, readers may have read more than this
--   database knows.
-- Guarantees: A reader that is ahead learns from the event what of it is undone: the numbers after
--   last_kept.
-- Locks: the row of event_numbers.
-- Notifies: qwf_events, with the number.
-- Called by: _number_events, begin_generation.

begin;

create function _qwf.restart_events(p_reason text) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_timeline text := left(pg_walfile_name(pg_current_wal_lsn()), 8);
  v_was _qwf.event_numbers;
  v_seq bigint;
begin
  select n.* into v_was from _qwf.event_numbers n for no key update;
  v_seq := v_was.last_seq + 1000000;
  update _qwf.event_numbers n set last_seq = v_seq, timeline = v_timeline,
    first_seq = case when n.first_seq > n.last_seq then v_seq else n.first_seq end;
  insert into _qwf.event_log (at, kind, subject, seq, detail)
  values (qwf.now(), 'events_restarted', 'qwf', v_seq,
    jsonb_strip_nulls(jsonb_build_object('reason', p_reason, 'last_kept', v_was.last_seq,
      'timeline', v_timeline, 'was', v_was.timeline)));
  perform pg_notify('qwf_events', v_seq::text);
  return v_seq;
end $$;

commit;
