-- Deploy qwf:functions/read/_why_running
-- Purpose: Says what a running job does: the run that it is, the model server that it waits for, a
--   body whose end cannot be reported, or its worker; whether it takes longer than usual; since
--   when its worker is silent, and when the job is taken back.
-- Guarantees: Never fails because of what workers have reported; of an error of theirs, the first
--   line. Of a node it tells what is usual by its workflow and name, of a standalone job by its
--   task, and nothing if its body has ended or too few have completed.
-- Called by: why_not.

begin;

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

commit;
