-- Nodes that have become obsolete are stopped, with the runs below them. Locks: runs (by id),
-- then their jobs (by id), each only if it is free.

-- Cancels obsolete nodes, and notifies the workers of running ones. Never waits, as its caller
-- may hold jobs. A node that is locked at this moment (by a claim or a promotion) is tried
-- again: a stop event stays in the outbox until nothing is left.
-- Locks: jobs of the runs (by id) that are free.
-- Notifies: workers that run a node of these runs: cancel.
create function _qwf.cancel_obsolete(p_runs bigint[]) returns setof _qwf.event
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_free bigint[];
begin
  v_free := _qwf.lock_obsolete(p_runs);  -- before the update takes its snapshot
  return query
  update qwf.jobs j set status = 'cancelled', finished_at = v_now
  from (select f.id, f.status from qwf.jobs f where f.id = any (v_free)) was
  where j.id = was.id
  returning j.run_id, j.id, case was.status
    when 'blocked' then 'cut' when 'awaiting_input' then 'withdrawn' else 'cancelled' end;
  delete from qwf.waits w where w.job_id = any (v_free);
  -- a node that began to ask after its run's events were taken: its question is withdrawn too
  return query
  delete from qwf.outbox o
  where o.run_id = any (p_runs) and (o.kind = 'asked' and o.job_id = any (v_free)
    or o.kind = 'ready' and exists (  -- written by _wake_compensations
      select from qwf.jobs j where j.id = o.job_id and j.run_if = 'compensates'))
  returning o.run_id, o.job_id, o.kind;

  insert into qwf.outbox (run_id, kind)
  select distinct j.run_id, 'stop'
  from qwf.jobs j
  where j.run_id = any (p_runs)
    and (j.status in ('blocked', 'scheduled', 'queued', 'awaiting_input')
      -- an older snapshot may show a node as running that has been requeued since
      or (j.status = 'running' and current_setting('transaction_isolation') <> 'read committed'))
    and _qwf.is_obsolete(j.run_id, j.run_if, j.parent_id)
    and not exists (
      select from qwf.outbox o
      where o.run_id = j.run_id and o.kind = 'stop' and o.poisoned_at is null);

  perform pg_notify(qwf.wake_channel(w.worker), 'cancel')
  from (
    select distinct j.claimed_by as worker
    from qwf.jobs j
    where j.run_id = any (p_runs) and j.status = 'running'
      and _qwf.is_obsolete(j.run_id, j.run_if, j.parent_id)
  ) w;
end $$;

-- Locks obsolete jobs that are not running. Never locks a running one. Never waits. Blocked rows
-- change under the lock of their run alone: all are locked. If a claim makes a row running
-- between the read and the lock, the row is locked without matching, and its worker would wait
-- for the caller's open transaction. Then the subtransaction is rolled back, which drops the
-- locks, and the search starts again. After five rounds the stop event does the rest.
-- Locks: jobs of the runs that are not running (by id), if they are free.
create function _qwf.lock_obsolete(p_runs bigint[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set jit = off
as $$
declare
  v_blocked bigint[];
  v_seen bigint[];
  v_locked bigint[];
begin
  v_blocked := array(
    select j.id from qwf.jobs j
    where j.run_id = any (p_runs) and j.status = 'blocked'
      and _qwf.is_obsolete(j.run_id, j.run_if, j.parent_id)
    order by j.id
    for no key update skip locked);
  for v_round in 1..5 loop
    begin
      v_seen := array(
        select j.id from qwf.jobs j
        where j.run_id = any (p_runs) and j.status in ('scheduled', 'queued', 'awaiting_input')
          and _qwf.is_obsolete(j.run_id, j.run_if, j.parent_id));
      v_locked := array(
        select j.id from qwf.jobs j
        where j.id = any (v_seen) and j.status in ('scheduled', 'queued', 'awaiting_input')
        order by j.id
        for no key update skip locked);
      if cardinality(v_locked) = cardinality(v_seen) or not exists (
        select from qwf.jobs j
        where j.id in (select unnest(v_seen) except select unnest(v_locked))
          and j.status = 'running')
      then
        return v_blocked || v_locked;
      end if;
      raise exception using errcode = 'QW002', message = 'claimed meanwhile';
    exception
      when sqlstate 'QW002' then
        continue;
    end;
  end loop;
  return v_blocked;
end $$;

-- True when a job's result no longer matters: its run is over or ending, or its map has ended.
-- Reads committed state; takes no lock. A clean-up node matters while its run is ending, not
-- after its end; an element does not matter after the end of its map.
create function _qwf.is_obsolete(p_run_id bigint, p_run_if text, p_parent_id bigint) returns boolean
language sql stable
as $$
  select exists (
      select from qwf.runs r
      where r.id = p_run_id
        and (r.finished_at is not null or (r.ending is not null and p_run_if is null)))
    or exists (select from qwf.jobs m where m.id = p_parent_id and m.finished_at is not null)
$$;

-- Ends the runs of steps that stop, level by level, and returns them. Never waits, as its caller
-- may hold jobs. Of each level it stops runs of at most 500 open nodes in this call, at least
-- one run; the others get a stop event, and so does a run that somebody has locked. A run that
-- got such an event ends here, if its step still has to stop.
-- Locks: runs (by id) that are free: a run lies above those that run for its steps.
create function _qwf.stop_children(p_runs bigint[], p_ended bigint[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_level bigint[] := p_runs;
  v_children bigint[];
  v_stopped bigint[] := '{}';
begin
  perform _qwf.end_run(r.id, 'cancelled', coalesce(
    'cancelled by ' || _qwf.spell_who(c.login, c.acting_for) || coalesce(': ' || c.reason, ''),
    'the run above it ended'), p_ended => p_ended)
  from qwf.runs r
  join qwf.jobs j on j.id = r.parent_id and j.attempt = r.parent_attempt
  left join qwf.cancel_requests c on c.job_id = j.id
  where r.id = any (p_runs) and r.finished_at is null and r.ending is null
    and _qwf.should_stop(j.id, j.run_id, j.run_if, j.parent_id);
  loop
    v_children := array(
      select c.id
      from qwf.jobs j join qwf.runs c on c.parent_id = j.id
      where j.run_id = any (v_level) and j.queue = 'qwf.runs' and j.status = 'running'
        and c.finished_at is null and c.ending is null
        and _qwf.is_obsolete(j.run_id, j.run_if, j.parent_id)
      order by c.id);
    exit when v_children = '{}';
    v_level := array(
      select r.id from qwf.runs r
      where r.id = any (array(
        select b.id
        from (
          select c.id, sum(c.open_nodes) over (order by c.id) - c.open_nodes as before
          from qwf.runs c where c.id = any (v_children)) b
        where b.before < 500))
      order by r.id
      for no key update skip locked);
    insert into qwf.outbox (run_id, kind)
    select c, 'stop' from unnest(v_children) c
    where c <> all (v_level) and not exists (
      select from qwf.outbox o
      where o.run_id = c and o.kind = 'stop' and o.poisoned_at is null);
    perform _qwf.end_run(c, 'cancelled', 'the run above it ended', p_ended => p_ended)
    from unnest(v_level) c;
    v_stopped := v_stopped || v_level;
  end loop;
  return v_stopped;
end $$;

-- True when a running job should stop: someone asked for it, or the job is obsolete. Reads
-- committed state; takes no lock.
create function _qwf.should_stop(
  p_job_id bigint, p_run_id bigint, p_run_if text, p_parent_id bigint)
returns boolean
language sql stable
as $$
  select exists (select from qwf.cancel_requests c where c.job_id = p_job_id)
    or _qwf.is_obsolete(p_run_id, p_run_if, p_parent_id)
$$;
