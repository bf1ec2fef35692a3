-- Deploy qwf:functions/upkeep/prune
-- Purpose: Deletes runs, jobs, firings and workers older than the retention, events older than
--   settings.events_keep (alerts and their messages, too), signals that are no longer kept, marks
--   of failures that nobody has changed for 90 days, and the minutes of hosts and queues older than
--   settings.minutes_keep.
-- Guarantees: Never deletes what is live, has a running body, or has events to apply. Waits for
--   nobody. Attempts, answers and files are deleted with their job, and nothing else ever deletes
--   them. Live logs that nobody follows are deleted. Statistics by the hour stay.
-- Locks: terminal runs and jobs, signals, workers and minutes, that nobody else has locked.
-- Raises: QW005 for a negative bound.

begin;

create function qwf.prune(max_rows int default 1000) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_old timestamptz := v_now - (select s.retention from qwf.settings s);
  v_minutes timestamptz := (  -- not the one that is not over: each tick would write it again
    select least(v_now - s.minutes_keep, date_bin('1 minute', v_now, 'epoch')) from qwf.settings s);
  v_count int;
  v_minutes_of_hosts int;
  v_done jsonb;
begin
  perform _qwf.check_count('max_rows', prune.max_rows);
  perform _qwf.forget_logs(v_now);
  perform _qwf.close_firings();  -- before their jobs and runs are deleted
  v_done := jsonb_build_object(
    'runs', _qwf.prune_runs(prune.max_rows), 'jobs', _qwf.prune_jobs(prune.max_rows),
    'events', _qwf.prune_events(prune.max_rows), 'firings', _qwf.prune_firings(prune.max_rows),
    'alerts', _qwf.prune_alerts(v_now, prune.max_rows));
  delete from qwf.signals s
  where s.ctid = any (array(
    select o.ctid from qwf.signals o
    where o.keep_until <= v_now order by o.keep_until limit prune.max_rows for update skip locked));
  get diagnostics v_count = row_count;
  v_done := v_done || jsonb_build_object('signals', v_count);
  delete from qwf.workers w
  where w.id = any (array(
    select o.id from qwf.workers o
    where o.last_seen < v_old limit prune.max_rows for update skip locked));
  get diagnostics v_count = row_count;
  v_done := v_done || jsonb_build_object('workers', v_count);
  delete from qwf.failure_marks m
  where (m.task, m.signature) in (
    select o.task, o.signature from qwf.failure_marks o
    where o.changed_at < v_now - interval '90 d' limit prune.max_rows for update skip locked);
  delete from qwf.host_minutes h
  where h.ctid = any (array(
    select o.ctid from qwf.host_minutes o
    where o.minute < v_minutes order by o.minute limit prune.max_rows for update skip locked));
  get diagnostics v_minutes_of_hosts = row_count;
  delete from qwf.queue_minutes m
  where m.ctid = any (array(
    select o.ctid from qwf.queue_minutes o
    where o.minute < v_minutes order by o.minute limit prune.max_rows for update skip locked));
  get diagnostics v_count = row_count;
  return v_done || jsonb_build_object('minutes', v_minutes_of_hosts + v_count);
end $$;
comment on function qwf.prune is
  'Deletes what is older than the retention: ended runs with about max_rows nodes in all, and at '
  'most max_rows each of ended standalone jobs, events, firings, signals, alerts and workers; also '
  'minutes older than minutes_keep, at most max_rows each of hosts and queues. Returns how many '
  'of each.';
call _qwf.allow('qwf.prune', 'qwf_worker');

commit;
