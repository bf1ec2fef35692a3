-- Deploy qwf:functions/_why_unclaimed
-- requires: schema/jobs
-- requires: schema/queues
-- requires: schema/workers
-- requires: schema/settings
-- requires: functions/_misfits
-- requires: functions/now
-- Purpose: Why nobody has claimed a queued job.
-- Called by: why_not.

begin;

create function qwf._why_unclaimed(p_job qwf.jobs) returns setof text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_alive qwf.workers[];
  v_ahead bigint;
begin
  if (select q.paused from qwf.queues q where q.name = p_job.queue) then
    return next format('queue %s is paused', p_job.queue);
  end if;
  v_alive := array(
    select w from qwf.workers w cross join qwf.settings s
    where w.queue = p_job.queue and w.stopped_at is null
      and w.last_seen > v_now - s.worker_stale);
  if cardinality(v_alive) = 0 then
    return next format('no live worker serves queue %1$s: start one with '
      'python -m qwf_agent --queue %1$s', p_job.queue);
    return;
  end if;
  if not exists (
    select from unnest(v_alive) w where cardinality(qwf._misfits(p_job, w, v_now)) = 0
  ) then
    return query
    select format('worker %s cannot take it: %s', m.id, array_to_string(m.misfits, ', '))
    from (select w.id, qwf._misfits(p_job, w, v_now) as misfits from unnest(v_alive) w) m
    order by cardinality(m.misfits)
    limit 3;
    return;
  end if;
  select count(*) into v_ahead from (
    select from qwf.jobs j
    where j.queue = p_job.queue and j.status = 'queued'
      and (not j.run_next, j.priority, j.position)
        < (not p_job.run_next, p_job.priority, p_job.position)
    limit 1000
  ) a;
  return next format('%s%s jobs are ahead of it in queue %s', v_ahead,
    case when v_ahead = 1000 then ' or more' else '' end, p_job.queue);
end $$;
comment on function qwf._why_unclaimed(qwf.jobs) is
  'Why a queued job is not claimed: queue paused, no worker, no fitting worker, or others ahead.';
revoke all on function qwf._why_unclaimed(qwf.jobs) from public;

commit;
