-- The identity of the database, new after a restore. Locks: the row of the instance, that of
-- event numbers, then the queues.

-- Makes a database that was restored from a backup safe to work with: no id is given out twice,
-- and agents recognise files of the lost life. Every sequence of ids moves on by as many ids as
-- it has given out, and by at least a million; numbers of events by a million, and the event
-- events_restarted tells. Calling it again does no harm. For a copy beside its original: another
-- instance, with all queues paused. Sequences do not roll back, so after an error ids may have
-- moved on.
-- Locks: the row of the instance, that of the numbers of events, then the queues.
-- Notifies: worker_control, with settings; qwf_events.
create function qwf.begin_generation(
  copy boolean default false, despite_live boolean default false)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_live text := (
    select string_agg(w.id, ', ' order by w.id)
    from qwf.workers w cross join qwf.settings s
    where w.stopped_at is null and w.last_seen > qwf.now() - s.worker_stale);
  v_instance qwf.instance;
  v_next jsonb;
  v_paused text[] := '{}';
begin
  if v_live is not null and begin_generation.despite_live is not true then
    raise exception using errcode = 'QW002', message = 'workers are live', detail = v_live,
      hint = 'stop their agents first; or pass despite_live, if they are those of this database';
  end if;
  update qwf.instance i set
    generation = i.generation + 1, began_at = qwf.now(),
    id = case when begin_generation.copy then gen_random_uuid() else i.id end
  returning i.* into v_instance;
  -- Sequences that no column owns are hints, or the order of queued jobs: they stay.
  select jsonb_object_agg(moved.name, setval(moved.sequence, moved.last) + 1) into v_next
  from (
    select t.relname as name, s.seqrelid::regclass as sequence,
      (coalesce(pg_sequence_last_value(s.seqrelid), 0) * 2 / 1000000 + 2) * 1000000 as last
    from pg_sequence s
    join pg_depend d on d.objid = s.seqrelid and d.deptype = 'i'
      and d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass
    join pg_class t on t.oid = d.refobjid
      and t.relnamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)) moved;
  perform _qwf.restart_events('restored');
  if begin_generation.copy then
    with paused as (
      update qwf.queues q set paused = true where not q.paused returning q.name)
    select coalesce(array_agg(p.name order by p.name), '{}') into v_paused from paused p;
  end if;
  perform pg_notify('worker_control', 'settings');
  return jsonb_build_object(
    'instance', v_instance.id, 'generation', v_instance.generation, 'next_ids', v_next,
    'paused', to_jsonb(v_paused));
end $$;
comment on function qwf.begin_generation is
  'After a restore from a backup, before agents start: moves all ids past those that can have been '
  'given out since the backup, and begins a new generation. copy: the original still runs, so '
  'this becomes another instance, with all queues paused. Returns instance, generation, next_ids '
  'and paused. QW002 while workers are live, unless despite_live.';
call _qwf.allow('qwf.begin_generation', 'qwf_admin');
