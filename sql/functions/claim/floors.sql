-- Floors: positions where scans of a queue begin while a held snapshot keeps dead entries in the
-- index. A tick finds them; claims only read them.

-- Finds where the queued jobs of each queue begin, if a walk to the first one passes more than a
-- thousand entries, which vacuum leaves while somebody holds a snapshot. Claims use a floor from
-- a second after it was found, so it hides no job of a shorter transaction. Each walk begins at
-- the very start, so the next one finds a job committed late below a floor: after 2 seconds for
-- a million entries, at least one. A floor holds 4 seconds longer. A priority with nothing
-- queued may be full of claimed jobs, too: the last 2000 jobs and the floor before show it. At
-- most 16 priorities.
-- Locks: floors that have expired and nobody else has locked.
create function _qwf.find_floors() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
  v_start timestamptz := qwf.now();
  v_queue text;
  v_priorities bigint[];
  v_began timestamptz;
  v_walked bigint;
  v_last bigint;
  v_low bigint;
  v_known bigint;
  v_job record;
  v_bands _qwf.band[];
  v_count int := 0;
begin
  if current_setting('transaction_isolation') <> 'read committed'  -- it does not see all jobs
    or (select r.until from _qwf.rests r where r.part = 'floors')
      between v_start and v_start + interval '10 s'
  then
    return 0;
  end if;
  for v_queue, v_priorities in
    with recent as materialized (
      select distinct r.queue, r.priority
      from (select j.queue, j.priority from qwf.jobs j order by j.id desc limit 2000) r)
    select q.name, array(
      select r.priority::bigint from recent r where r.queue = q.name
      union
      select b.priority from _qwf.floors f cross join unnest(f.bands) b where f.queue = q.name
      order by 1)
    from qwf.queues q where not exists (
      select from _qwf.floors f
      where f.queue = q.name and f.found_at <= qwf.now() and f.until > qwf.now() + interval '4 s')
  loop
    v_began := qwf.now();
    v_last := coalesce(pg_sequence_last_value('qwf.job_position'), 0);
    v_walked := _qwf.index_entries_walked('qwf.jobs_claim');
    v_bands := '{}';
    v_low := -2147483648;
    foreach v_known in array v_priorities || 2147483648 loop
      loop  -- the priorities up to the known one
        select j.priority, j.position into v_job
        from qwf.jobs j
        where j.queue = v_queue and j.status = 'queued' and j.limit_by is null and not j.run_next
          and j.position >= 0 and j.priority >= v_low and j.priority < v_known
        order by j.priority, j.position limit 1;
        exit when not found or cardinality(v_bands) = 16;
        v_bands := v_bands || (v_job.priority, v_job.position)::_qwf.band;
        v_low := v_job.priority::bigint + 1;
      end loop;
      exit when v_known > 2147483647 or cardinality(v_bands) = 16;
      v_bands := v_bands || (v_known, coalesce((
        select j.position
        from qwf.jobs j
        where j.queue = v_queue and j.status = 'queued' and j.limit_by is null and not j.run_next
          and j.priority = v_known and j.position >= 0
        order by j.position limit 1), v_last))::_qwf.band;
      v_low := v_known + 1;
    end loop;
    v_walked := _qwf.index_entries_walked('qwf.jobs_claim') - v_walked;
    if v_walked > 1000 then
      delete from _qwf.floors d
      where d.ctid = any (array(
        select f.ctid from _qwf.floors f
        where f.queue = v_queue and f.found_at < (
          select max(l.found_at) from _qwf.floors l
          where l.queue = v_queue and l.found_at < v_began - interval '1 s')
        for update skip locked));
      insert into _qwf.floors (queue, found_at, until, bands)
      values (v_queue, v_began,
        qwf.now() + greatest(v_walked * interval '2 us', '1 s') + interval '4 s', v_bands)
      on conflict do nothing;
      v_count := v_count + 1;
    end if;
  end loop;
  if v_count = 0 then  -- with many queues and priorities, looking costs 2 % of a core at most
    update _qwf.rests r set until = qwf.now() + least(50 * (qwf.now() - v_start), '10 s')
    where r.ctid = (select f.ctid from _qwf.rests f where f.part = 'floors' for update skip locked)
      and qwf.now() - v_start > interval '20 ms';
  end if;
  return least(v_count, 99);
end $$;

-- Returns how many entries of an index this transaction has read. A walk is measured by it and
-- not by the clock, because on a busy machine any statement can take milliseconds. Only
-- differences within a transaction mean anything. Always 0 if track_counts is off, which
-- autovacuum needs on as well.
create function _qwf.index_entries_walked(p_index regclass) returns bigint
language sql volatile
as $$
  select pg_catalog.pg_stat_get_xact_tuples_returned(p_index)
$$;
