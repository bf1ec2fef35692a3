-- The reason why a job has not ended well, or not yet.

-- Returns why a job is not running, in words a person can act on. One line for each reason, and
-- at least one. Names the worker that comes nearest. The plan is pinned: lists call this for
-- each row, also when statistics are old.
create function qwf.why_not(job_id bigint) returns setof text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_job qwf.jobs;
begin
  select j.* into v_job from qwf.jobs j where j.id = why_not.job_id;
  if not found then
    perform _qwf.raise_no_such_job(why_not.job_id);
  end if;
  case v_job.status
    when 'running' then
      return next _qwf.why_running(v_job, v_now);
    when 'scheduled' then
      return next format('it waits for %s%s%s%s', v_job.run_at,
        case when isfinite(v_job.run_at)
          then ', in ' || date_trunc('second', v_job.run_at - v_now) end,
        case when (v_job.options).start_by > v_job.run_at and v_job.attempt = 0 then
          ': it is debounced, and a call with its key may put it off until '
            || (v_job.options).start_by end,
        coalesce(', after: ' || _qwf.error_line(v_job.last_error), (
          select ', which is its delay' from qwf.graph_nodes n
          where n.graph_id = v_job.graph_id and n.idx = v_job.node_idx and v_job.attempt = 0
            and n.delay is not null)));
    when 'awaiting_input' then
      return query
      select format('it waits for a person to answer: %s%s', v_job.input_spec ->> 'prompt',
        case when v_job.queue is null then ' until ' || v_job.expires_at end)
      where v_job.input_spec ? 'widget'
      union all
      select format('it waits for the signal %s%s%s', v_job.input_spec ->> 'signal',
        ' until ' || v_job.expires_at, case when array_remove(w.refused, -1) <> '{}' then
          '; the last one did not fit' || coalesce((
            select format(', sent at %s: %s', s.sent_at,
              string_agg(p.path || ' ' || p.problem, '; '))
            from qwf.signals s
            cross join lateral _qwf.answer_problems(v_job.input_spec, s.payload) p
            where s.project = w.project and s.name = w.name and s.id = any (w.refused)
            group by s.id
            order by s.id desc
            limit 1), '') end)
      from qwf.waits w
      where w.job_id = v_job.id and w.kind = 'signal';
    when 'blocked' then
      return query select * from _qwf.why_blocked(v_job);
      if not found then  -- never in a healthy database
        return next 'nothing it waits for is known: select * from qwf.check_invariants()';
      end if;
    when 'queued' then
      return query select * from _qwf.why_unclaimed(v_job, v_now);
    else
      return next coalesce((
        select case
            when r.finished_at is null and r.ending is null then format(
              'it runs only if the run fails or is cancelled: it takes back %s', n.targets)
            when r.status = 'completed' then 'the run completed: nothing is taken back'
            else format('there was nothing to take back of %s', n.targets) end
        from qwf.runs r
        cross join lateral (
          select array_to_string(g.compensates, ', ') as targets from qwf.graph_nodes g
          where g.graph_id = v_job.graph_id and g.idx = v_job.node_idx) n
        where v_job.status = 'skipped' and v_job.run_if = 'compensates' and r.id = v_job.run_id
      ), format('it has ended: %s%s', v_job.status,
        coalesce(', ' || _qwf.error_line(v_job.last_error), '')));
      if v_job.begun and v_job.last_error ~ '(^|; )it may have run' then
        return next 'look whether it did, and if it did not: qwf retry job ' || v_job.id;
      end if;
  end case;
end $$;
comment on function qwf.why_not is
  'Why the job is not running, one line for each reason; QW001: no such job.';
call _qwf.allow('qwf.why_not', 'qwf_producer', 'qwf_viewer');

-- Says what a running job does: the run that it is, the model server that it waits for, a body
-- whose end cannot be reported, or its worker; whether it takes longer than usual; since when
-- its worker is silent, and when the job is taken back. Never fails because of what workers have
-- reported; of an error of theirs, the first line. Of a node it tells what is usual by its
-- workflow and name, of a standalone job by its task, and nothing if its body has ended or too
-- few have completed.
create function _qwf.why_running(p_job qwf.jobs, p_now timestamptz) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce((
    select format('it is run %s of %s, %s, %s of %s nodes done', r.id, r.workflow,
      replace(r.status::text, '_', ' '), r.node_count - n.left, r.node_count)
    from qwf.runs r
    cross join lateral (
      select count(*) as left from qwf.jobs j
      where j.run_id = r.id and j.node_idx is not null
        and j.status not in ('completed', 'skipped')) n
    where r.parent_id = p_job.id and starts_with(p_job.queue, 'qwf.')
    order by r.id desc
    limit 1
  ), (
    select format('it is claimed by %s, and waits there for its model server %s: %s', w.id,
      s.value ->> 'name', concat_ws(', ',
        (s.value ->> 'state') || coalesce(
          ': ' || left(split_part(s.value ->> 'error', E'\n', 1), 300), ''),
        case when s.value ->> 'state' = 'ready' then format('%s of %s requests in flight',
          s.value ->> 'inflight', s.value ->> 'parallel') end,
        'next start in ' || ceil(r.retry_s - least(r.retry_s, r.age_s)) || ' s'))
    from qwf.workers w
    cross join lateral jsonb_path_query(w.stats, '$.servers[*] ? (@.waiting[*] == $job)',
      jsonb_build_object('job', p_job.id)) s (value)
    cross join lateral (select _qwf.as_number(s.value -> 'retry_s', 1e6) as retry_s,
      extract(epoch from p_now - w.last_seen) as age_s) r
    where w.id = p_job.claimed_by
    limit 1
  ), (
    select format('its body has ended on %s, which cannot report it: %s', u.host, u.why)
    from _qwf.unreported(p_job) u
  ), format('it is running: worker %s, attempt %s, for %s', p_job.claimed_by, p_job.attempt,
    date_trunc('second', p_now - p_job.claimed_at))) || coalesce((
    select format('; 19 of 20 took less than %s',
      greatest(interval '1 s', date_trunc('second', u.p95 * interval '1 s' + interval '999 ms')))
    from qwf.usual_times u
    where u.kind = case when p_job.run_id is null then 'task' else 'node' end
      and u.name = coalesce(
        (select r.workflow from qwf.runs r where r.id = p_job.run_id), p_job.task)
      and u.node = case when p_job.run_id is null then '' else p_job.node_id end
      and not exists (select from _qwf.unreported(p_job))
      and u.runs >= 10 and p_now - p_job.claimed_at > u.p95 * interval '1 s'
  ), '') || coalesce((
    select ', but ' || coalesce('this worker is silent since '
        || date_trunc('second', w.last_seen) || ' and ', '') || format(
      case when p_job.lease_expires_at > p_now
        then 'its lease ends at %s: then another worker gets the job'
        else 'its lease ended at %s: the next tick takes the job back' end,
      date_trunc('second', p_job.lease_expires_at))
    from (select) one
    left join (
      select l.last_seen from qwf.workers l cross join qwf.settings s
      where l.id = p_job.claimed_by and l.last_seen <= p_now - s.worker_stale) w on true
    where w.last_seen is not null or p_job.lease_expires_at <= p_now
  ), '') || coalesce((
    select ', and will be cancelled' from qwf.cancel_requests c where c.job_id = p_job.id
  ), '')
$$;

-- Returns what a blocked node, map or element waits for.
create function _qwf.why_blocked(p_job qwf.jobs) returns setof text
language sql stable
as $$
  select case when r.finished_at is null
      then format('its run is about to end as %s: only clean-up nodes still run', r.ending)
      else format('its run is over, %s: it will be cancelled', r.status) end
  from qwf.runs r
  where r.id = p_job.run_id
    and (r.finished_at is not null or (r.ending is not null and p_job.run_if is null))
  union all
  select format('it depends on %s, which is %s%s%s', d.node_id, d.status,
    case when d.finished_at is not null and d.elements is not null and d.remaining_deps > 0
      then format(' (elements yet to stop: %s)', d.remaining_deps) end,
    case when p_job.run_if is not null then '; it runs once that has ended' end)
  from qwf.graph_edges e
  join qwf.jobs d on d.run_id = p_job.run_id and d.node_idx = e.from_idx
  where e.graph_id = p_job.graph_id and e.to_idx = p_job.node_idx and p_job.elements is null
    and (d.elements is not null and d.remaining_deps > 0
      or d.status not in ('completed', 'skipped', 'failed', 'cancelled')
      or d.status in ('failed', 'cancelled') and p_job.run_if is null
        and (d.status, d.on_failure) <> ('failed', 'continue'))
  union all
  select coalesce(
    'it repeats: ' || (
      select _qwf.spell_turn(t.element, n.repeat -> 'max', t.status, t.run_at)
      from qwf.graph_nodes n
      join qwf.jobs t on t.parent_id = p_job.id and t.element = p_job.elements - 1
      where n.graph_id = p_job.graph_id and n.idx = p_job.node_idx and n.repeat is not null),
    format('it is a map: %s of its %s elements have not ended', p_job.remaining_deps,
      p_job.elements))
  where p_job.elements is not null
  union all
  select case when m.finished_at is null
      then format('map %s runs at most %s elements at once, and as many are active',
        m.node_id, n.max_parallel)
      else format('map %s is over, %s: it will be cancelled', m.node_id, m.status) end
  from qwf.jobs m
  join qwf.graph_nodes n on n.graph_id = m.graph_id and n.idx = m.node_idx
  where m.id = p_job.parent_id and (m.finished_at is not null or n.max_parallel is not null)
  union all
  select format('%s events of its run %s', count(*), case when o.poisoned_at is null
      then 'wait to be applied' || coalesce(', the last error was ' || max(o.error), '')
        || ': select qwf.drain_outbox()'
      else format('were given up: %s: retry_run() starts again without them', max(o.error)) end)
  from qwf.outbox o
  where o.run_id = p_job.run_id
  group by o.poisoned_at
$$;
