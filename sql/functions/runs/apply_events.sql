-- Events in the outbox applied to their runs. Every report ends here, and so does every tick:
-- counters change, nodes open, runs end. Locks: runs (by id) that are free, their events, jobs
-- of those runs.

create type _qwf.event as (run_id bigint, job_id bigint, kind text);
comment on type _qwf.event is
  'Something to apply to a run. The kinds are those of the outbox, what a person or an expiry '
  'decides (answered, retried, passed, aborted), and how a node that did not run was cancelled '
  '(withdrawn, cut).';

create type _qwf.node_count as (
  run_id bigint, closed int, active int, waiting int, failed int, started boolean);
comment on type _qwf.node_count is
  'Change of a run''s counters: nodes that became terminal, active, waiting, or failed '
  'without failing the run; started: one of its nodes has run.';

create type _qwf.opened as (
  id bigint, run_id bigint, status qwf.job_status, elements _qwf.node_count);
comment on type _qwf.opened is
  'A node whose dependencies are all satisfied, and its status now; blocked: a guarded node still '
  'to be opened, or a map that runs. elements: what the elements of a map that was expanded just '
  'now add to the counters of the run.';

create type _qwf.sorted_events as (ended bigint[], failed bigint[], ready bigint[], stop bigint[]);
comment on type _qwf.sorted_events is
  'Events sorted by what follows: nodes that have ended, those of them that failed, guarded nodes '
  'to open, runs in which nodes have to stop. Null: none.';

create type _qwf.advanced as (
  ready bigint[], elements bigint[], counts _qwf.node_count[], over bigint[], again bigint[]);
comment on type _qwf.advanced is
  'Left by _advance_runs: guarded nodes to open, ended elements of maps, counts, and runs of steps '
  'that have completed. Null: none.';

-- Applies the events that wait in the outbox. An event is deleted in the transaction that
-- applies it. A locked run is left to the next call and delays no other, however many events
-- wait for it. If a batch fails, each of its runs is tried by itself. Runs count as too slow
-- only if their events took two seconds or more: who cancels the statement sooner, or sets a
-- shorter statement_timeout, stops only this call.
-- Locks: runs (by id) that are free, their events, jobs of those runs.
-- Notifies: as _apply_events.
-- Raises: QW005 for a negative bound; 57014 if the statement is cancelled within two seconds.
create function qwf.drain_outbox(max_events int default 100) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_runs bigint[];
  v_events _qwf.event[];
  v_run bigint;
  v_count int := 0;
  v_began timestamptz := v_now;
begin
  perform _qwf.check_count('max_events', drain_outbox.max_events);
  v_runs := array(
    select r.id
    from (
      select distinct o.run_id
      from qwf.outbox o
      where o.poisoned_at is null and (o.next_try_at is null or o.next_try_at <= v_now)
    ) due
    join qwf.runs r on r.id = due.run_id
    order by r.id
    limit drain_outbox.max_events
    for no key update of r skip locked);
  if cardinality(v_runs) = 0 then
    return 0;
  end if;
  begin
    v_events := _qwf.take_events(v_runs);
    perform _qwf.apply_events(v_events);
    return cardinality(v_events);
  exception
    when query_canceled then
      if qwf.now() - v_began < interval '2 s' then
        raise;
      end if;
      -- too much for one statement: halve it
      perform _qwf.split_late_batch(v_runs);
      return 0;
    when others then  -- one run fails: apply each by itself
      foreach v_run in array v_runs loop
        v_began := qwf.now();
        begin
          v_events := _qwf.take_events(array[v_run]);
          perform _qwf.apply_events(v_events);
          v_count := v_count + cardinality(v_events);
        exception
          when query_canceled then  -- from here on the statement has no time limit
            if qwf.now() - v_began >= interval '2 s' then
              perform _qwf.split_late_batch(array[v_run]);
            end if;
            return v_count;
          when others then
            perform _qwf.retry_or_poison_events(v_run, sqlstate, sqlerrm);
        end;
      end loop;
      return v_count;
  end;
end $$;
comment on function qwf.drain_outbox is
  'Applies the pending events of at most max_events runs and returns how many events it applied; '
  'safe to call from any session, at the same time as others.';
call _qwf.allow('qwf.drain_outbox', 'qwf_worker');

-- Deletes and returns the outbox events of runs the caller has locked. Deleted in the caller's
-- transaction: an event is applied once, or is still there. Poisoned events stay.
-- Locks: the events; only the holder of a run's lock deletes its events.
create function _qwf.take_events(p_runs bigint[]) returns _qwf.event[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set jit = off
as $$
declare
  v_events _qwf.event[];
begin
  with taken as (
    delete from qwf.outbox o
    where o.run_id = any (p_runs)
      and coalesce(o.poisoned_at, 'infinity') = 'infinity'  -- written so as not to use outbox_due
    returning o.id, (o.run_id, o.job_id, o.kind)::_qwf.event as event
  )
  select coalesce(array_agg(t.event order by t.id), '{}') into v_events from taken t;
  return v_events;
end $$;

-- Applies events to runs: ends runs, opens ready nodes, cascades skips, counts. Set-based: the
-- cost grows with the events and the nodes they open, not with the runs. Repeats until no
-- further node ends. Obsolete nodes are cancelled before any node opens. At the end it reports
-- runs that have ended to their steps, and starts runs that may start: its only calls of later
-- rooms. True if events for other runs wait in the outbox.
-- Locks: the caller has locked the runs; jobs of those runs: blocked ones, which no other
--   transaction touches, and queued ones that are free.
-- Notifies: sleepers of the queues that got work; workers that have to stop.
create function _qwf.apply_events(p_events _qwf.event[]) returns boolean
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
  v_events _qwf.event[] := p_events;
  v_opened _qwf.opened[] := '{}';
  v_counts _qwf.node_count[] := '{}';
  v_new _qwf.node_count[];
  v_ended bigint[];
  v_is_plain boolean;
  v_sorted _qwf.sorted_events;
  v_ready bigint[];
  v_stop bigint[];
  v_next _qwf.advanced;
  v_over bigint[];
  v_again bigint[];
  v_waits boolean;
begin
  while cardinality(v_events) > 0 or cardinality(v_opened) > 0 or cardinality(v_counts) > 0 loop
    v_ready := null;
    select bool_and(e.kind = 'completed'), array_agg(e.job_id),
      array_agg((e.run_id, 1, -1, 0, 0, true)::_qwf.node_count)  -- as _counter_changes counts them
      into v_is_plain, v_ended, v_new
    from unnest(v_events) e;
    if v_opened = '{}' and v_is_plain is not false then  -- the usual case
      v_events := '{}';
    else
      v_new := array(select c from _qwf.counter_changes(v_events, v_opened) c);
      v_sorted := _qwf.sort_events(v_events, v_opened);
      v_ended := v_sorted.ended;
      v_ready := v_sorted.ready;
      v_stop := v_sorted.stop;
      if v_sorted.failed is not null then
        v_stop := v_stop || _qwf.end_failed_runs(v_sorted.failed, v_ended);
      end if;
      v_events := '{}';
      if cardinality(v_stop) > 0 then
        v_stop := v_stop || _qwf.stop_children(v_stop, v_ended);
        v_over := v_over || v_stop;
        v_events := array(select s from _qwf.cancel_obsolete(v_stop) s);
      end if;
    end if;
    v_next := _qwf.advance_runs(
      v_counts || v_new, v_ended, v_events = '{}' and v_ready is null);
    v_over := v_over || v_next.over;
    v_again := v_again || v_next.again;
    exit when v_next.counts is null;
    v_counts := v_next.counts;
    v_ready := v_ready || v_next.ready;
    v_opened := case when v_next.elements is not null  -- in this order: see _advance_runs
        then array(select o from _qwf.settle_maps(v_next.elements) o) else '{}' end
      || case when v_ready is not null
        then array(select o from _qwf.open_guarded(v_ready) o) else '{}' end;
  end loop;
  if v_over is null and v_again is null
    and coalesce(current_setting('qwf.runs_due', true), '') = ''
  then
    return false;  -- the usual case
  end if;
  if v_again is not null then
    perform _qwf.go_on(v_again);
  end if;
  v_over := v_over || v_again;
  v_waits := v_over is not null and _qwf.report_runs(v_over);
  if current_setting('qwf.runs_due', true) <> '' then
    perform _qwf.serve_runs(500);
  end if;
  return v_waits;
end $$;

-- Sorts events and opened nodes by what follows: nodes that have ended, have failed or are
-- ready, and runs in which nodes have to stop. A node that goes back to the queue of a run that
-- is over or ending has to stop, and so have the elements that are left of a map that completed
-- early.
create function _qwf.sort_events(p_events _qwf.event[], p_opened _qwf.opened[])
returns _qwf.sorted_events
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sorted _qwf.sorted_events;
begin
  select
    array_agg(n.id) filter (where n.ended or n.failed),
    array_agg(n.id) filter (where n.failed),
    array_agg(n.id) filter (where n.ready),
    array_agg(distinct n.run_id) filter (where n.stop)
    into v_sorted
  from (
    select e.job_id, e.run_id, e.kind in ('completed', 'answered', 'passed'),
      e.kind in ('failed', 'cancelled', 'aborted', 'withdrawn', 'cut'), e.kind = 'ready',
      e.kind = 'stop' or (e.kind in ('requeued', 'asked', 'ready', 'retried') and (
        select _qwf.is_obsolete(j.run_id, j.run_if, j.parent_id)
        from qwf.jobs j where j.id = e.job_id))
    from unnest(p_events) e
    union all
    select o.id, o.run_id, o.status in ('completed', 'skipped', 'cancelled'),
      o.status = 'failed', false, o.status = 'completed' and (
        select m.remaining_deps > 0 from qwf.jobs m where m.id = o.id)
    from unnest(p_opened) o
  ) n (id, run_id, ended, failed, ready, stop);
  return v_sorted;
end $$;

-- Halves a batch of runs whose events together exceed a statement timeout. Only a run that
-- exceeds it alone counts a try. No run waits behind another forever: the later half waits for
-- as long as its oldest event has waited so far, which in the end is longer than the time from
-- one drain to the next, even if drains are rare.
-- Locks: the caller has locked the runs.
create function _qwf.split_late_batch(p_runs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
begin
  if cardinality(p_runs) = 1 then
    perform _qwf.retry_or_poison_events(
      p_runs[1], '57014', 'it took longer than statement_timeout');
    return;
  end if;
  update qwf.outbox o set
    next_try_at = v_now + case when k.n * 2 > cardinality(p_runs)
      then greatest(v_now - k.since, interval '1 s') else interval '0 s' end
  from (
    select u.run_id, u.n, (
        select min(w.created_at) from qwf.outbox w
        where w.run_id = u.run_id and coalesce(w.poisoned_at, 'infinity') = 'infinity') as since
    from unnest(p_runs) with ordinality u (run_id, n)
  ) k
  where o.run_id = k.run_id and o.poisoned_at is null;
end $$;

-- Schedules the next try of a run's events that could not be applied, and after the last try
-- poisons them and fails the run. Tries again after 1, 2, 4, 8 seconds; the fifth failure is the
-- last. An error that the run did not cause is not counted. The run ends with the reason even if
-- its nodes cannot be stopped now: a stop event tries that again.
-- Locks: the caller has locked the run.
create function _qwf.retry_or_poison_events(p_run bigint, p_sqlstate text, p_error text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_error text := p_sqlstate || ' ' || p_error;
  v_counted boolean := not _qwf.is_passing_error(p_sqlstate);
begin
  update qwf.outbox o set
    tries = o.tries + v_counted::int, error = v_error,
    next_try_at = v_now + interval '1 s' * 2 ^ o.tries,
    poisoned_at = case when o.tries + 1 >= s.event_tries and v_counted then v_now end
  from qwf.settings s
  where o.run_id = p_run and o.poisoned_at is null;
  if exists (select from qwf.outbox o where o.run_id = p_run and o.poisoned_at = v_now) then
    insert into _qwf.event_log (at, run_id, kind, detail)
    values (v_now, p_run, 'poisoned', jsonb_build_object('error', v_error));
    if _qwf.end_run(p_run, 'failed', 'an event could not be applied: ' || v_error, true) then
      insert into qwf.outbox (run_id, kind)  -- tells the run above
      select p_run, 'stop' from qwf.runs r where r.id = p_run and r.parent_id is not null;
      begin
        perform _qwf.cancel_obsolete(array[p_run]);
      exception
        when others then
          insert into qwf.outbox (run_id, kind, error) values (p_run, 'stop', sqlerrm);
      end;
    end if;
  end if;
end $$;
