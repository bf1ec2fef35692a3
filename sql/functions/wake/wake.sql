-- Sleepers, their channels, and the choice of whom to wake. Agents sleep here; whoever queues a
-- job wakes one. Locks: rows of sleepers that nobody else has locked.

-- Registers a worker as asleep on a queue. A job that becomes claimable after this commits wakes
-- the worker. Claim once more after the commit: a job that came between the empty claim and this
-- call wakes nobody. A row older than fifteen seconds is ignored, so repeat the call while
-- asleep. A repeated call does not count as having just fallen asleep; _wake leaves out those
-- who have, because they are about to look.
-- Locks: the worker's own row in sleepers.
-- Raises: QW005 if there is no worker, QW006 for an unknown queue.
create function qwf.sleep(worker text, queue text) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if sleep.queue = 'qwf.runs'
    or not exists (select from qwf.queues q where q.name = sleep.queue)
  then
    perform _qwf.raise_unknown_queue(sleep.queue);
  end if;
  perform _qwf.check_worker(sleep.worker);
  insert into qwf.sleepers as s (worker, queue, since)
  values (sleep.worker, sleep.queue, qwf.now())
  on conflict (queue, worker) do update set since = excluded.since - interval '4 ms';
  return qwf.wake_channel(sleep.worker);
end $$;
comment on function qwf.sleep is
  'Registers the worker as asleep on the queue and returns the channel it has to LISTEN on. Claim '
  'once more afterwards, and call sleep or stay_asleep at least every ten seconds while asleep; '
  'QW006 for an unknown queue.';
call _qwf.allow('qwf.sleep', 'qwf_worker');

-- Refuses a worker without a name, or with a name too long for an index.
-- Raises: QW005.
create function _qwf.check_worker(p_worker text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_worker is null then
    raise exception using errcode = 'QW005', message = 'no worker',
      detail = 'worker: null', hint = 'give the id that register_worker() returned, or a name';
  end if;
  perform _qwf.check_text('worker', p_worker);
  if starts_with(p_worker, 'qwf.') then
    perform _qwf.refuse_engine_name('worker', p_worker);
  end if;
end $$;

-- Returns the NOTIFY channel of a worker. One channel per worker, and a valid identifier for any
-- name.
create function qwf.wake_channel(worker text) returns text
language sql immutable strict
as $$
  select 'qwf_' || md5(wake_channel.worker)
$$;
comment on function qwf.wake_channel is
  'Channel a worker LISTENs on. Payload: the queue that has work, cancel (send a heartbeat now), '
  'log (somebody follows one of its logs), or echo (it asked for it).';
call _qwf.allow('qwf.wake_channel', 'qwf_worker');

-- Takes a worker off the list of sleepers. Nobody sends it a NOTIFY for new jobs any more. On a
-- queue with placement pack it wakes the next sleeper if jobs wait: the others may have left
-- them to this worker.
-- Locks: the worker's own rows in sleepers.
-- Notifies: one sleeper of each packed queue where jobs wait.
create function qwf.wake(worker text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_queue text;
begin
  for v_queue in delete from qwf.sleepers s where s.worker = wake.worker returning s.queue loop
    perform _qwf.wake(q.name, 1)
    from qwf.queues q
    where q.name = v_queue and q.placement = 'pack' and not q.paused
      and exists (
        select from qwf.jobs j
        where j.queue = q.name and j.status = 'queued' and j.limit_by is null);
  end loop;
end $$;
comment on function qwf.wake is
  'Takes the worker off the list of sleepers, so that wake-ups for new jobs go to others. On a '
  'queue with placement pack, others are woken for the jobs that they have left to it.';
call _qwf.allow('qwf.wake', 'qwf_worker');

-- Wakes as many sleepers of a queue as there are new jobs. Writes no row and waits for nobody:
-- rivals skip each other's picks by locks that they only try. Two or more workers that fell
-- asleep within the last four milliseconds (a busy fleet) count as woken: they look again after
-- five, and a NOTIFY in every commit would make producers queue for its lock. A lost wake-up
-- costs one poll. With placement pack the best workers come first, else the last to fall asleep.
-- For the queue of runs it only notes that runs may start.
-- Locks: the row of the sleeper in hash_locks, tried only.
-- Notifies: the channel of each sleeper picked.
create function _qwf.wake(p_queue text, p_count int) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_pack boolean;
  v_put_off text[];
begin
  if p_queue = 'qwf.runs' then
    perform set_config('qwf.runs_due', '1', true);
    return;
  elsif not exists (select from qwf.sleepers s where s.queue = p_queue) then
    return;  -- the usual case in a busy fleet, and cheaper than the sort below
  end if;
  if current_setting('qwf.put_off', true) <> '' then
    v_put_off := regexp_match(
      current_setting('qwf.put_off'), '^([0-9]+) ([0-9]{1,6}) (.*)$');
    if v_put_off[1] = pg_current_xact_id_if_assigned()::text and v_put_off[3] = p_queue then
      -- This transaction claims next: finish_and_claim wakes for what it leaves.
      perform set_config('qwf.put_off',
        format('%s %s %s', v_put_off[1], v_put_off[2]::int + p_count, p_queue), true);
      return;
    end if;
  end if;
  v_pack := (select q.placement = 'pack' from qwf.queues q where q.name = p_queue);
  perform pg_notify(qwf.wake_channel(picked.worker), p_queue)
  from (
    select asleep.worker
    from (
      select s.worker, count(*) filter (where s.since > v_now - interval '4 ms') over () as fresh
      from qwf.sleepers s
      left join qwf.workers w on w.id = s.worker and v_pack
      where s.queue = p_queue and s.since > v_now - interval '15 s'
      order by w.rank desc nulls last, w.slots desc nulls last,
        s.since desc  -- so that one that died asleep is soon not picked
      limit 64
    ) asleep
    where (asleep.fresh < 2 or asleep.fresh < p_count)
      and (select true from _qwf.hash_locks h
        where h.number = hashtext(asleep.worker) & 4095 | 16384 for update skip locked)
    limit least(p_count, 16)
  ) picked;
end $$;

-- Sends a worker a notification, so that it finds out whether notifications reach it. Writes
-- nothing. Call it from another session than the one that LISTENs: behind a pool in transaction
-- mode a session may receive its own notifications and nobody else's.
-- Notifies: the worker's own channel, payload echo.
-- Raises: QW005 if there is no worker.
create function qwf.echo(worker text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform _qwf.check_worker(echo.worker);
  perform pg_notify(qwf.wake_channel(echo.worker), 'echo');
end $$;
comment on function qwf.echo is
  'Sends echo on the channel of the worker. A worker that receives it may poll seldom while it '
  'sleeps.';
call _qwf.allow('qwf.echo', 'qwf_worker');

-- Deletes sleepers that died asleep. Deletes rows older than a minute. A live sleeper renews its
-- row every few seconds.
-- Locks: rows of sleepers that nobody else has locked.
create function _qwf.forget_sleepers() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_count int;
begin
  delete from qwf.sleepers s
  using (
    select g.worker, g.queue from qwf.sleepers g
    where g.since < v_now - interval '1 min'
    limit 1000
    for update skip locked
  ) dead
  where s.worker = dead.worker and s.queue = dead.queue;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

-- Writes the events of jobs that failed for good or ask a person. Skips those of the jobs that
-- have neither failed nor ask, and nodes and runs in line that failed: the end of the run tells.
-- Every function that gives a job one of these states calls it: a trigger would cost every claim
-- and every finish.
create function _qwf.announce_trouble(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  insert into _qwf.event_log (at, run_id, job_id, kind, detail)
  select qwf.now(), j.run_id, j.id,
    case j.status when 'failed' then 'job_failed' else 'question_asked' end,
    jsonb_strip_nulls(case j.status
      when 'failed' then jsonb_build_object(
        'error', left(_qwf.error_line(j.last_error), 500),
        'reason', left(a.detail ->> 'reason', 500),
        'attempt', nullif(j.attempt, 0))
      else jsonb_build_object(
        'prompt', left(j.input_spec ->> 'prompt', 500),
        'expires_at', case when j.queue is null then j.expires_at end) end)
  from unnest(p_jobs) p (id) join qwf.jobs j on j.id = p.id
  left join qwf.job_attempts a on a.job_id = j.id and a.attempt = j.attempt
  where (j.status::text = 'awaiting_input' and j.input_spec ? 'widget')  -- text: not by an index
    or (j.status::text = 'failed' and j.run_id is null and j.queue <> 'qwf.runs');
end $$;
