-- Deploy qwf:functions/read/_why_unclaimed
-- Purpose: Returns why nobody has claimed a queued job.
-- Guarantees: First what holds it back for every worker; then the three workers that come nearest,
--   with what each lacks; if one could take it, what comes before it.
-- Called by: why_not.

begin;

create function _qwf.why_unclaimed(p_job qwf.jobs, p_now timestamptz) returns setof text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_live text[];
  v_able text[];
  v_foreign boolean;  -- all of them work for other projects
begin
  return query select * from _qwf.why_held(p_job, p_now);
  if found and not p_job.run_next and exists (
    select from qwf.held_tasks h
    where h.queue = p_job.queue and h.task = p_job.task and h.until is not null)
  then
    return;
  end if;
  if starts_with(p_job.queue, 'qwf.') then  -- the engine serves it
    if not found then
      return next 'it is a run that starts with the next tick';
    end if;
    return;
  end if;
  select array_agg(u.worker), array_agg(u.worker) filter (where u.reasons = '{}'),
    bool_and(coalesce(u.reasons[1] ^@ 'it works for ', false))
    into v_live, v_able, v_foreign
  from _qwf.why_unfit(p_job, p_now) u;
  if v_live is null then
    return next format(
      'no live worker serves queue %1$s: start one with qwf agent --queue %1$s%2$s',
      p_job.queue, case when p_job.task = 'command' then ' --allow-commands DIR' end);
  elsif v_able is null then
    if v_foreign then
      return next format(case p_job.project
        when '' then 'no worker of queue %1$s takes jobs without a project'
        else 'no worker of project %2$s serves queue %1$s' end
        || ': start one with qwf agent --queue %1$s%3$s',
        p_job.queue, p_job.project, coalesce(' --project ' || nullif(p_job.project, '')));
    end if;
    return query
    select format('worker %s cannot take it: %s', u.worker, array_to_string(u.reasons, ', '))
    from _qwf.why_unfit(p_job, p_now) u
    limit 3;
  else
    return query select * from _qwf.why_waiting(p_job, v_able, p_now);
  end if;
end $$;

commit;
