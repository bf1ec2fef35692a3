-- Events: their texts, their numbers, and how long they are kept. Changes record values before
-- and after; a tick gives numbers, one transaction at a time. Locks: the row of event_numbers,
-- which it skips if another transaction has it.

-- Writes the event of a change, with the values that differ before and after it. Writes nothing
-- if nothing differs. Login and name are those of the session.
create function _qwf.record_change(
  p_kind text, p_subject text, p_old jsonb, p_new jsonb, p_more jsonb default '{}')
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_difference jsonb := _qwf.difference(p_old, p_new);
begin
  if v_difference is not null then
    insert into _qwf.event_log (at, kind, subject, detail)
    values (qwf.now(), p_kind, p_subject, p_more || v_difference);
  end if;
end $$;

-- Returns what differs between an object before and after a change, as {old, new}. Only keys
-- whose values differ; a null counts as no value. Null if nothing differs. A long value becomes
-- a text that is cut to 500 characters.
create function _qwf.difference(p_old jsonb, p_new jsonb) returns jsonb
language sql immutable
as $$
  select nullif(jsonb_strip_nulls(jsonb_build_object(
    'old', jsonb_object_agg(k.key, v.old) filter (where v.old <> 'null'),
    'new', jsonb_object_agg(k.key, v.new) filter (where v.new <> 'null'))), '{}')
  from jsonb_object_keys(coalesce(p_old, '{}') || coalesce(p_new, '{}')) k (key)
  cross join lateral (
    select
      case when length(p_old ->> k.key) > 500 then to_jsonb(left(p_old ->> k.key, 500) || '...')
        else p_old -> k.key end as old,
      case when length(p_new ->> k.key) > 500 then to_jsonb(left(p_new ->> k.key, 500) || '...')
        else p_new -> k.key end as new
  ) v
  where nullif(p_old -> k.key, 'null') is distinct from nullif(p_new -> k.key, 'null')
$$;

-- Returns the most telling line of an error: the last of a bare Python traceback, else the
-- first. Reads the start of an error, 1000 letters, and returns at most 200 of them, so that no
-- error takes long. Only of a traceback alone does it read the end; the letters of all of it are
-- counted only if its last line is blank, because that takes long.
create function _qwf.error_line(p_error text) returns text
language sql immutable parallel safe
as $$
  select left(case when left(p_error, 9) = 'Traceback'
    then coalesce(
      nullif(rtrim(left(split_part(p_error, E'\n', -1), 1000), E' \t\r\n'), ''),
      split_part(rtrim(right(p_error, 1000), E' \t\r\n'), E'\n', -1))
    else split_part(ltrim(left(p_error, 1000), E' \t\r\n'), E'\n', 1) end, 200)
$$;

-- Numbers the events that have no number, and tells listeners the last number. Numbers grow by
-- one and never change: it locks the row of numbers first, and reads events in later statements.
-- It commits durably, so that a crash never reuses a number that was read. Stops at p_rows or
-- after p_ms, and then returns the size of a batch, else at most 99. Skips the index entries of
-- the last 10 to 20 seconds; a look at all, every 10 seconds, finds what a longer transaction
-- commits.
-- Locks: the row of event_numbers; while another transaction has it, it does nothing.
-- Notifies: qwf_events, with the last number.
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

-- Writes the event events_restarted with a number a million above the last one, and returns that
-- number: after a failover or a restore, readers may have read more than this database knows. A
-- reader that is ahead learns from the event what of it is undone: the numbers after last_kept.
-- Locks: the row of event_numbers.
-- Notifies: qwf_events, with the number.
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

-- Gives the next numbers to the oldest events that have none, and writes what they are about:
-- the subject, and the names of the job or run while it exists. In the order of ids, from p_low
-- on. What the writer of an event has given stays.
-- Locks: the caller has locked the row of event_numbers.
create function _qwf.number_batch(p_low bigint, p_last bigint, p_rows int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_ids bigint[];
  v_count int;
begin
  v_ids := array(
    select n.id from _qwf.event_log n
    where n.seq is null and n.id >= p_low
    order by n.id limit p_rows);
  update _qwf.event_log e set  -- no join: stale statistics would compare each event with all
    seq = p_last + width_bucket(e.id, v_ids),  -- its place among them
    (subject, names) = (
      select coalesce(e.subject, case when j.queue is not null then j.task end, j.node_id,
          r.workflow),
        coalesce(n.names || e.names, n.names, e.names)
      from (select) one
      left join qwf.jobs j on j.id = e.job_id
      left join qwf.runs r on r.id = coalesce(e.run_id, j.run_id)
      cross join lateral (
        select nullif(jsonb_strip_nulls(jsonb_build_object(
          'project', nullif(coalesce(j.project, r.project), ''), 'workflow', r.workflow,
          'node', j.node_id, 'task', j.task, 'queue', j.queue,
          'schedule', coalesce(j.schedule, r.schedule),
          'alert', coalesce(j.labels, r.labels) -> 'qwf.alert',
          -- of a run it may have been changed or removed since its jobs were made
          'notify', case when r.id is null then j.labels else r.labels end -> 'qwf.notify')), '{}')
          as names
        ) n)
  where e.id = any (v_ids) and coalesce(e.seq, 0) = 0;  -- `is null` may read event_log_new
  get diagnostics v_count = row_count;
  return v_count;
end $$;

-- Deletes events that are older than settings.events_keep, whatever they are about. In the order
-- of numbers, so that those that are kept have no gap: an event that took long to commit goes
-- after those numbered before it. Moves first_seq in the same transaction.
-- Locks: the row of event_numbers; while another transaction has it, it does nothing.
create function _qwf.prune_events(p_max int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_old timestamptz := qwf.now() - (select s.events_keep from qwf.settings s);
  v_first bigint := (select n.first_seq from _qwf.event_numbers n);
  v_next bigint;
  v_count int;
begin
  if (select e.at from _qwf.event_log e where e.seq >= v_first order by e.seq limit 1) < v_old
    is not true
  then
    return 0;
  end if;
  select n.first_seq into v_first from _qwf.event_numbers n for no key update skip locked;
  if not found then
    return 0;
  end if;
  with oldest as materialized (
    select e.id, e.seq, e.at from _qwf.event_log e
    where e.seq >= v_first order by e.seq limit p_max
  ), gone as (
    delete from _qwf.event_log e
    where e.id = any (array(
      select o.id from oldest o
      where o.seq < coalesce((select min(k.seq) from oldest k where k.at >= v_old), o.seq + 1)))
    returning e.seq
  )
  select count(*), max(g.seq) + 1 into v_count, v_next from gone g;
  update _qwf.event_numbers n set first_seq = coalesce(
    (select min(e.seq) from _qwf.event_log e where e.seq >= v_next), n.last_seq + 1)
  where v_count > 0;
  return v_count;
end $$;
